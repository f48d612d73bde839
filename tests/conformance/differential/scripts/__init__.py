"""All scripts, a file for each family of APIs."""

from importlib import import_module

from tests.conformance.differential.script import SCRIPTS

FAMILIES = (
    "negotiating", "naming_topics", "topics", "producing", "fetching", "offsets", "settings",
    "administration", "membership", "groups",
)  # fmt: skip

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

__all__ = ["SCRIPTS"]
