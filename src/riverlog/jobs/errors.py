"""How a job ends other than well; the message is one line and says what to do about it."""


class JobRefused(Exception):
    """It was asked for wrongly, and nothing was done."""


class JobFailed(Exception):
    """It was tried and did not succeed; the message says how far it came."""
