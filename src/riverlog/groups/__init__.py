"""Consumer groups and their committed offsets: rules that take the time and return decisions."""
