"""A world that can be made to fail: simulated disk, object store, clock, and a history checker."""
