"""The outside world in small doses: clock, chance, tasks and logs."""
