"""The log of one partition: appending, reading, recovery, and the pure rules under them."""
