"""Brokers at work that lose their power, their disk or their life, again and again.

`kill -9` spares the page cache; a power cut, on a file system on a loop device, does not. In
`tests/crash` every cut at every call is tried on a simulated disk; here the kernel decides what is
kept, and real clients what is sent again.
"""
