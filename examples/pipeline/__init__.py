"""A million orders through a broker and Spark, both killed midway; then every total is checked."""
