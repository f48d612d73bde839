"""What the tests ask of the admin clients of Python's libraries, in one set of words."""

import asyncio
import re
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin import NewPartitions as AioNewPartitions
from aiokafka.admin import NewTopic as AioNewTopic
from aiokafka.admin.config_resource import ConfigResource as AioResource
from aiokafka.admin.config_resource import ConfigResourceType as AioResourceType
from aiokafka.errors import KafkaError as AioError
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tests.conformance.clients.client import DEADLINE_S

with warnings.catch_warnings():
    # It reads its schemas with a deprecated function of the standard library.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaAdminClient
    from kafka.admin import ConfigResource as PyResource
    from kafka.admin import ConfigResourceType as PyResourceType
    from kafka.errors import KafkaError as PyError

SET_FOR_TOPIC = 1

# A setting's value, and whether the topic has it of its own.
Configs = dict[str, tuple[str, bool]]


class Refused(Exception):
    """The broker said no, with this code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Admin(Protocol):
    """One admin client. Each call raises `Refused`."""

    def create(
        self, topic: str, partitions: int, factor: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        """Makes a topic."""

    def grow(self, topic: str, partitions: int) -> None:
        """Gives a topic more partitions."""

    def delete(self, topic: str) -> None:
        """Ends a topic."""

    def configs(self, topic: str) -> Configs:
        """All settings of a topic."""

    def broker_configs(self) -> Configs:
        """All settings of the broker."""

    def replace(self, topic: str, configs: Mapping[str, str]) -> None:
        """Gives a topic these settings, and no others."""

    def close(self) -> None:
        """Ends its connections."""


class ConfluentAdmin:
    """confluent-kafka's."""

    def __init__(self, bootstrap: str) -> None:
        self.client = AdminClient({"bootstrap.servers": bootstrap})

    def create(
        self, topic: str, partitions: int, factor: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        made = NewTopic(topic, partitions, factor, config=dict(configs or {}))
        self._done(self.client.create_topics([made]))

    def grow(self, topic: str, partitions: int) -> None:
        self._done(self.client.create_partitions([NewPartitions(topic, partitions)]))

    def delete(self, topic: str) -> None:
        self._done(self.client.delete_topics([topic]))

    def configs(self, topic: str) -> Configs:
        return self._described(ConfigResource(ConfigResource.Type.TOPIC, topic))

    def broker_configs(self) -> Configs:
        return self._described(ConfigResource(ConfigResource.Type.BROKER, "1"))

    def replace(self, topic: str, configs: Mapping[str, str]) -> None:
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, set_config=dict(configs))
        with warnings.catch_warnings():
            # It wants people to use the other way; this one must work all the same.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._done(self.client.alter_configs([resource]))

    def change(self, topic: str, *changes: tuple[str, str, str | None]) -> None:
        """Sets, deletes, appends, subtracts."""
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType[operation])
            for name, operation, value in changes
        ]
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        self._done(self.client.incremental_alter_configs([resource]))

    def close(self) -> None:
        pass

    def _described(self, resource: ConfigResource) -> Configs:
        entries = self._done(self.client.describe_configs([resource]))
        return {
            entry.name: (entry.value, entry.source == SET_FOR_TOPIC) for entry in entries.values()
        }

    def _done(self, futures: Mapping[Any, Any]) -> Any:  # the library says no types
        (future,) = futures.values()
        try:
            return future.result(DEADLINE_S)
        except KafkaException as error:
            raise Refused(error.args[0].code(), error.args[0].str()) from None


class KafkaPythonAdmin:
    """kafka-python's."""

    def __init__(self, bootstrap: str) -> None:
        self.client = KafkaAdminClient(bootstrap_servers=bootstrap)

    def create(
        self, topic: str, partitions: int, factor: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        made = {
            "num_partitions": partitions,
            "replication_factor": factor,
            "configs": dict(configs or {}),
        }
        with self._refusing():
            self.client.create_topics({topic: made})

    def grow(self, topic: str, partitions: int) -> None:
        with self._refusing():
            self.client.create_partitions({topic: partitions})

    def delete(self, topic: str) -> None:
        with self._refusing():
            self.client.delete_topics([topic])

    def configs(self, topic: str) -> Configs:
        return self._described(PyResource(PyResourceType.TOPIC, topic))

    def broker_configs(self) -> Configs:
        return self._described(PyResource(PyResourceType.BROKER, "1"))

    def replace(self, topic: str, configs: Mapping[str, str]) -> None:
        # It fills in what the topic has already, so that is taken away first.
        own = [name for name, (_, is_own) in self.configs(topic).items() if is_own]
        gone = PyResource(PyResourceType.TOPIC, topic, configs=dict.fromkeys(own))
        resource = PyResource(PyResourceType.TOPIC, topic, configs=dict(configs))
        with self._refusing():
            if own:
                self.client.reset_configs([gone])
            found = self.client.alter_configs([resource], raise_on_unknown=False, incremental=False)
        _check_all(found)

    def change(self, topic: str, *changes: tuple[str, str, str | None]) -> None:
        """Sets, deletes, appends, subtracts."""
        configs = {name: (operation, value) for name, operation, value in changes}
        with self._refusing():
            resource = PyResource(PyResourceType.TOPIC, topic, configs=configs)
            found = self.client.alter_configs([resource])
        _check_all(found)

    def close(self) -> None:
        self.client.close()

    def _described(self, resource: Any) -> Configs:  # the library says no types
        with self._refusing():
            found = self.client.describe_configs([resource], config_filter="all")
        ((configs,),) = (by_name.values() for by_name in found.values())
        return {
            name: (config["value"], config["config_source"] == "DYNAMIC_TOPIC_CONFIG")
            for name, config in configs.items()
        }

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except PyError as error:
            raise Refused(error.errno, str(error)) from None


class AiokafkaAdmin:
    """aiokafka's; opened anew for each call."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def create(
        self, topic: str, partitions: int, factor: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        made = AioNewTopic(topic, partitions, factor, topic_configs=dict(configs or {}))
        reply = self._run(lambda admin: admin.create_topics([made]))
        ((_, code, message),) = reply.topic_errors
        _check(code, message)

    def grow(self, topic: str, partitions: int) -> None:
        self._run(lambda admin: admin.create_partitions({topic: AioNewPartitions(partitions)}))

    def delete(self, topic: str) -> None:
        ((_, code),) = self._run(lambda admin: admin.delete_topics([topic])).topic_error_codes
        _check(code, "")

    def configs(self, topic: str) -> Configs:
        return self._described(AioResource(AioResourceType.TOPIC, topic))

    def broker_configs(self) -> Configs:
        return self._described(AioResource(AioResourceType.BROKER, "1"))

    def replace(self, topic: str, configs: Mapping[str, str]) -> None:
        resource = AioResource(AioResourceType.TOPIC, topic, configs=dict(configs))
        (reply,) = self._run(lambda admin: admin.alter_configs([resource]))
        ((code, message, _, _),) = reply.resources
        _check(code, message)

    def close(self) -> None:
        pass

    def cluster(self) -> dict[str, Any]:
        """What it knows of the cluster."""
        found: dict[str, Any] = self._run(lambda admin: admin.describe_cluster())
        return found

    def topics(self, *topics: str) -> list[Any]:
        """What it knows of topics."""
        found: list[Any] = self._run(lambda admin: admin.describe_topics(list(topics)))
        return found

    def _described(self, resource: AioResource) -> Configs:
        (reply,) = self._run(lambda admin: admin.describe_configs([resource]))
        ((code, message, _, _, configs),) = reply.resources
        _check(code, message)
        return {config[0]: (config[1], config[3] == SET_FOR_TOPIC) for config in configs}

    def _run(self, call: Callable[[AIOKafkaAdminClient], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
            await admin.start()
            try:
                return await call(admin)
            finally:
                await admin.close()

        try:
            return asyncio.run(run())
        except AioError as error:
            raise Refused(error.errno, str(error)) from None


def _check_all(found: Mapping[str, Mapping[str, str]]) -> None:
    """kafka-python raises nothing when settings are refused: it tells, in words."""
    for by_name in found.values():
        for told in by_name.values():
            if told != "OK":
                code = re.match(r"\[Error (\d+)\]", told)
                assert code is not None, told
                raise Refused(int(code[1]), told)


def _check(code: int, message: str) -> None:
    if code:
        raise Refused(code, message)


ADMINS: dict[str, Callable[[str], Admin]] = {
    "confluent-kafka": ConfluentAdmin,
    "kafka-python": KafkaPythonAdmin,
    "aiokafka": AiokafkaAdmin,
}
