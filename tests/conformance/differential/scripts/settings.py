"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs."""

from collections.abc import Sequence

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from riverlog.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from riverlog.protocol.messages.incremental_alter_configs import (
    AlterableConfig as Change,
)
from riverlog.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource as ChangedResource,
)
from riverlog.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
)
from tests.conformance.differential.conversation import Conversation
from tests.conformance.differential.script import script

TOPIC, BROKER, CLIENT_METRICS, GROUP, NOTHING = 2, 4, 16, 32, 77
SET, DELETE, APPEND, SUBTRACT = range(4)


def describe(
    kind: int,
    name: str,
    keys: Sequence[str] | None = None,
    *,
    synonyms: bool = False,
    documentation: bool = False,
) -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    return DescribeConfigsRequest(
        resources=[resource], include_synonyms=synonyms, include_documentation=documentation
    )


def change(
    kind: int, name: str, *changes: tuple[int, str, str | None], validate_only: bool = False
) -> IncrementalAlterConfigsRequest:
    configs = [Change(name=key, config_operation=how, value=to) for how, key, to in changes]
    resource = ChangedResource(resource_type=kind, resource_name=name, configs=configs)
    return IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)


def replace(
    kind: int, name: str, *configs: tuple[str, str | None], validate_only: bool = False
) -> AlterConfigsRequest:
    given = [AlterableConfig(name=key, value=value) for key, value in configs]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=given)
    return AlterConfigsRequest(resources=[resource], validate_only=validate_only)


@script(ApiKey.DESCRIBE_CONFIGS)
def every_setting_of_a_topic(talk: Conversation) -> None:
    topic = talk.topic(configs={"retention.ms": "60000", "cleanup.policy": "compact,delete"})
    talk.ask("all", describe(TOPIC, topic.name))
    # The words are our own: that there are some is compared.
    reply = talk.look(describe(TOPIC, topic.name, documentation=True), talk.version)
    (result,) = reply.results
    texts = {config.name: bool(config.documentation) for config in result.configs}
    talk.write_down("documentation", {"of segment.bytes": texts.get("segment.bytes")})


@script(ApiKey.DESCRIBE_CONFIGS)
def settings_are_asked_for_twice(talk: Conversation) -> None:
    topic = talk.topic()
    (one,) = describe(TOPIC, topic.name, ["retention.ms"]).resources
    (other,) = describe(TOPIC, topic.name, ["cleanup.policy"]).resources
    talk.ask("twice", DescribeConfigsRequest(resources=[one, other]))


@script(ApiKey.DESCRIBE_CONFIGS)
def some_settings_of_a_topic(talk: Conversation) -> None:
    topic = talk.topic(configs={"retention.ms": "60000"})
    talk.ask("set", describe(TOPIC, topic.name, ["retention.ms"], synonyms=True))
    talk.ask("not set", describe(TOPIC, topic.name, ["cleanup.policy"], synonyms=True))
    talk.ask("unknown", describe(TOPIC, topic.name, ["no.such.setting"]))
    talk.ask("none", describe(TOPIC, topic.name, []))


@script(ApiKey.DESCRIBE_CONFIGS)
def settings_of_what_does_not_exist(talk: Conversation) -> None:
    talk.ask("unknown topic", describe(TOPIC, talk.name("unknown")))
    talk.ask("invalid topic", describe(TOPIC, "no/such name"))
    talk.ask("unknown broker", describe(BROKER, "77"))
    talk.ask("no number", describe(BROKER, "me"))
    for kind in (0, 8, NOTHING):
        talk.ask(f"kind {kind}", describe(kind, "x"))


@script(ApiKey.DESCRIBE_CONFIGS)
def settings_of_groups_and_of_metrics(talk: Conversation) -> None:
    for kind, step in ((GROUP, "group"), (CLIENT_METRICS, "metrics")):
        talk.ask(step, describe(kind, talk.name("x"), synonyms=True))
        talk.ask(f"{step}, unknown setting", describe(kind, talk.name("x"), ["no.such.setting"]))
        talk.ask(f"{step}, without a name", describe(kind, ""))


@script(ApiKey.DESCRIBE_CONFIGS)
def some_settings_of_the_broker(talk: Conversation) -> None:
    for name in ("auto.create.topics.enable", "message.max.bytes"):
        talk.ask(name, describe(BROKER, "1", [name]))
    talk.ask("unknown", describe(BROKER, "1", ["no.such.setting"]))


@script(ApiKey.INCREMENTAL_ALTER_CONFIGS)
def settings_are_changed_one_by_one(talk: Conversation) -> None:
    topic = talk.topic(configs={"retention.ms": "60000"})

    def ask(step: str, *changes: tuple[int, str, str | None], validate_only: bool = False) -> None:
        talk.ask(step, change(TOPIC, topic.name, *changes, validate_only=validate_only))

    def look(step: str) -> None:
        talk.settle()
        keys = ["retention.ms", "max.message.bytes", "cleanup.policy"]
        talk.ask(step, describe(TOPIC, topic.name, keys), 4)

    ask("set", (SET, "max.message.bytes", "2000"))
    look("after set")
    ask("only checked", (SET, "max.message.bytes", "3000"), validate_only=True)
    ask("delete", (DELETE, "retention.ms", None))
    look("after delete")
    ask("delete what is not set", (DELETE, "retention.ms", None))
    ask("append", (APPEND, "cleanup.policy", "compact"))
    look("after append")
    ask("append again", (APPEND, "cleanup.policy", "compact"))
    ask("subtract", (SUBTRACT, "cleanup.policy", "delete"))
    look("after subtract")


@script(ApiKey.INCREMENTAL_ALTER_CONFIGS)
def changes_that_cannot_be_are_refused(talk: Conversation) -> None:
    topic = talk.topic()

    def ask(step: str, *changes: tuple[int, str, str | None]) -> None:
        talk.ask(step, change(TOPIC, topic.name, *changes))

    ask("unknown name", (SET, "no.such.setting", "1"))
    ask("no number", (SET, "retention.ms", "soon"))
    ask("out of range", (SET, "segment.bytes", "1"))
    ask("null", (SET, "retention.ms", None))
    ask("twice", (SET, "retention.ms", "1"), (SET, "retention.ms", "2"))
    ask("append to a number", (APPEND, "retention.ms", "1"))
    ask("one of two", (SET, "retention.ms", "1000"), (SET, "segment.bytes", "x"))
    talk.settle()
    talk.ask("nothing was changed", describe(TOPIC, topic.name, ["retention.ms"]), 4)
    talk.ask("nothing", change(TOPIC, topic.name))
    talk.ask("unknown topic", change(TOPIC, talk.name("unknown"), (SET, "retention.ms", "1")))
    talk.ask("invalid topic", change(TOPIC, "no/such name", (SET, "retention.ms", "1")))
    talk.ask("unknown kind", change(NOTHING, "x", (SET, "retention.ms", "1")))
    once = change(TOPIC, topic.name, (SET, "retention.ms", "1")).resources[0]
    doubled = IncrementalAlterConfigsRequest(resources=[once, once], validate_only=False)
    talk.ask("a topic twice", doubled)


@script(ApiKey.ALTER_CONFIGS)
def settings_are_replaced_all_at_once(talk: Conversation) -> None:
    topic = talk.topic(configs={"retention.ms": "60000"})
    keys = ["retention.ms", "max.message.bytes"]
    talk.ask("replace", replace(TOPIC, topic.name, ("max.message.bytes", "2000")))
    talk.settle()
    talk.ask("after", describe(TOPIC, topic.name, keys), 4)
    checked = replace(TOPIC, topic.name, ("retention.ms", "5"), validate_only=True)
    talk.ask("only checked", checked)
    talk.settle()
    talk.ask("after check", describe(TOPIC, topic.name, keys), 4)
    talk.ask("none", replace(TOPIC, topic.name))
    talk.settle()
    talk.ask("after none", describe(TOPIC, topic.name, keys), 4)
    talk.ask("unknown name", replace(TOPIC, topic.name, ("no.such.setting", "1")))
    talk.ask("no number", replace(TOPIC, topic.name, ("retention.ms", "soon")))
    talk.ask("null", replace(TOPIC, topic.name, ("retention.ms", None)))
    talk.ask("unknown topic", replace(TOPIC, talk.name("unknown"), ("retention.ms", "1")))
    talk.ask("unknown kind", replace(NOTHING, "x", ("retention.ms", "1")))
