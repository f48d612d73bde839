"""Every difference between Apache Kafka's replies and ours: which field, why. One table."""

from tests.conformance.differential.declared.of_groups import GROUPS
from tests.conformance.differential.declared.of_records import FETCH, OFFSETS, PRODUCE
from tests.conformance.differential.declared.of_settings import API_VERSIONS, SETTINGS
from tests.conformance.differential.declared.of_topics import METADATA, TOPICS

DIFFERENCES = (
    *API_VERSIONS, *METADATA, *TOPICS, *SETTINGS, *PRODUCE, *FETCH, *OFFSETS, *GROUPS,
)  # fmt: skip
