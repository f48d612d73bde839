"""The same jobs with their pieces on Spark's executors: planned, committed and told of here.

A task needs nothing but its own description, and leaves nothing behind that counts: what it has
made becomes part of a result when the driver says so. Executors may be other processes and other
machines, if they have Riverlog installed and see the same files under the same paths.
"""
