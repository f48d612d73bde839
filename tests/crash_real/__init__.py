"""Real processes on real disks: killed, starved, and refused by the operating system.

A `kill -9` leaves the page cache alone, so what is lost by it says nothing about syncs: for those
`test_sync_before_reply.py` looks at the system calls. Power cuts are in `tests/crash`.
"""
