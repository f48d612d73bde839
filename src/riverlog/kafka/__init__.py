"""The Kafka door: connections, frames, and one handler per API. Translates; decides nothing."""
