"""The page people read and the tables that tests use say the same."""

from tests.conformance.differential.declared import DIFFERENCES
from tests.conformance.differential.page import PAGE, render
from tests.conformance.differential.scripts import SCRIPTS


def test_the_page_is_what_the_tables_say() -> None:
    assert PAGE.read_text() == render(), "run: python -m tests.conformance.differential.page"


def test_every_declared_difference_names_scripts_that_exist() -> None:
    named = {script for difference in DIFFERENCES for script in difference.scripts}
    assert named <= SCRIPTS.keys()
