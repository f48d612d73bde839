"""Bytes to messages and back. Pure: nothing here waits, reads a clock or touches a socket."""
