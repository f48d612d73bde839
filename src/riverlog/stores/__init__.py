"""Where bytes are kept: the disk, journals and object stores, behind small ports."""
