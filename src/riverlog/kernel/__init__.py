"""Record batches to Arrow columns: a small C file, and the same in Python where there is none."""
