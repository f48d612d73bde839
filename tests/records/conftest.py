"""Imports kafka-python before the tests do: importing it warns, and here warnings are errors."""

import warnings

from hypothesis import settings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", ".*_text is deprecated", DeprecationWarning)
    import kafka  # noqa: F401  # imported for the effect

# A busy machine can pause an example for longer than any deadline worth having.
settings.register_profile("records", deadline=None)
settings.load_profile("records")
