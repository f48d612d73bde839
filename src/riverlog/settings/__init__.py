"""Every setting of a broker, declared once; flags, variables and TOML keys come from there."""
