"""What this disk and machine can do: measured, looked up, and judged in plain words."""
