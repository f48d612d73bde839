"""Work over whole topics: import, export, audit.

Every job is made of a plan, pieces of work that need nothing but their own description, and a
commit in one place. Here the pieces run in this process, one after the other or in threads;
`on_spark` sends them to executors.
"""
