"""Topics as tables: whole record batches from the brokers, Arrow columns for whoever reads."""
