"""One file per API: this folder's listing is the compatibility table."""
