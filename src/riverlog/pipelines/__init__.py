"""Declarative pipelines on Spark: a project of definitions, checked before it runs.

`Graph` is what a project defines, read from its files (`definitions`) or from what Spark's own
runner is told (`recording`). `rules` finds in either what would lose rows or fail later. `running`
runs Spark's own runner in a process of its own, `history` keeps what became of it.
"""
