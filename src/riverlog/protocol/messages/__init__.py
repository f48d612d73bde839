"""One file per API, one class per message, version ranges on its fields."""
