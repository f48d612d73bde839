"""What Spark's users are told when something cannot be: one sentence each."""


class InvalidOption(ValueError):
    """An option is unknown, is missing, cannot be read or does not go with another."""


class DataLoss(Exception):
    """Records that were to be read are gone; `failOnDataLoss=false` goes on without them."""


class SparkUnavailable(Exception):
    """Spark cannot run here, or not with what it found; nothing was begun."""
