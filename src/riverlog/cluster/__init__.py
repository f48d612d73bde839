"""What the cluster knows of itself: topics and starts, as facts."""
