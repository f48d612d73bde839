"""What a broker can do, in our own words."""
