"""How many files this process may have open: connections and segments share them."""

import resource

# No more than this is asked for: some systems say "unlimited" and mean a table of that size.
WANTED = 1 << 20


def open_files_max() -> int:
    """How many files may be open at a time."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return WANTED if soft == resource.RLIM_INFINITY else soft


def allow_more_open_files() -> int:
    """Takes all that the system grants without asking, and says how much that is.

    The usual 1,024 is a courtesy to programs that use `select`; we do not.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(hard, WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return open_files_max()
