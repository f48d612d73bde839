"""Speed, as ratios taken in one run. `make bench` runs all, `python -m benchmarks NAME…` some."""
