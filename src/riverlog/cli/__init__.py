"""The `riverlog` command."""
