"""What lies in a data directory, read without changing it: facts first, how to show them apart."""
