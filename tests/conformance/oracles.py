"""Two libraries that also speak the protocol, driven to read and write any message.

An `Oracle` takes what `narrow` lets through: where a library cannot hold a value that the wire can,
the reason stands beside the narrowed field.
"""

import datetime
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from kio.index import KioIndexError, load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.serial import entity_reader, entity_writer

from riverlog.protocol.schema import ZERO_UUID, Field
from tests.protocol.strategies import Strategy

MS = datetime.timedelta(milliseconds=1)
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class Oracle:
    """How to drive one library; `theirs` is its class for a message of ours, or None."""

    name: str
    theirs: Callable[[Any, int], Any]
    read: Callable[[Any, int, bytes], Any]
    write: Callable[[Any, int], bytes]
    write_with_header: Callable[[Any, int, int, str | None], bytes]
    narrow: Callable[[Any, Field], Strategy | None]


def kio_class(cls: Any, version: int) -> Any:
    load = load_request_schema if cls.__name__.endswith("Request") else load_response_schema
    try:
        return load(cls.API_KEY, version)
    except KioIndexError:
        return None


def kio_read(theirs: Any, version: int, data: bytes) -> Any:
    message, size = entity_reader(theirs)(data, 0)
    assert size == len(data)
    return message


def kio_write(message: Any, version: int) -> bytes:
    buffer = io.BytesIO()
    entity_writer(type(message))(buffer, message)
    return buffer.getvalue()


def kio_write_with_header(
    message: Any, version: int, correlation_id: int, client_id: str | None
) -> bytes:
    header = message.__header_schema__
    if message.__type__.name == "response":
        start = header(correlation_id=correlation_id)
    else:
        start = header(
            request_api_key=message.__api_key__,
            request_api_version=version,
            correlation_id=correlation_id,
            client_id=client_id,
        )
    return kio_write(start, version) + kio_write(message, version)


def kio_narrow(cls: Any, field: Field) -> Strategy | None:
    if field.name.endswith("error_code"):
        return st.sampled_from([code.value for code in KioErrorCode])  # it has an enum for them
    if field.name in ("log_append_time_ms", "transaction_start_time_ms"):
        return st.integers(0, 2**40)  # it makes them dates, which end with the year 9999
    if field.kind == "int64" and field.name.endswith("_ms"):
        return st.integers(-(2**40), 2**40)  # it makes them spans, through a float of seconds
    return None


def _kafka_python_classes() -> dict[str, Any]:
    with warnings.catch_warnings():
        # While it is imported it reads files in a way that Python means to drop.
        warnings.simplefilter("ignore", DeprecationWarning)
        from kafka.protocol import admin, consumer, metadata, producer, sasl
    modules = (admin, consumer, metadata, producer, sasl)
    return {name: found for module in modules for name, found in vars(module).items()}


KAFKA_PYTHON_CLASSES = _kafka_python_classes()


def kafka_python_class(cls: Any, version: int) -> Any:
    theirs = KAFKA_PYTHON_CLASSES.get(cls.__name__)
    return None if theirs is None or version > theirs.max_version else theirs


def kafka_python_read(theirs: Any, version: int, data: bytes) -> Any:
    message = theirs.decode(data, version=version)
    message._header = None  # its reader leaves this unset, its writers ask for it
    return message


def kafka_python_write(message: Any, version: int) -> bytes:
    return bytes(message.encode())


def kafka_python_write_with_header(
    message: Any, version: int, correlation_id: int, client_id: str | None
) -> bytes:
    message.with_header(correlation_id, client_id)
    return bytes(message.encode(header=True))


def kafka_python_narrow(cls: Any, field: Field) -> Strategy | None:
    if cls.__name__ == "ApiVersionsResponse" and field.name == "error_code":
        return st.just(0)  # it reads a reply with an error as version 0, whatever was asked
    return None


def differences(ours: Any, theirs: Any, version: int, path: str = "") -> list[str]:
    """The fields in which two libraries' readings of the same bytes differ, by name."""
    known = dir(theirs)
    found = []
    for field in ours.FIELDS:
        if version not in field.versions:
            continue
        mine = getattr(ours, field.name)
        other = getattr(theirs, next(name for name in their_names(field.name) if name in known))
        if field.kind == "structure" and other is not None:
            # kio makes a struct of defaults where we and kafka-python have None.
            mine = default_of(field.of) if mine is None else mine
            found += differences(mine, other, version, f"{path}{field.name}.")
        elif field.kind == "array" and isinstance(field.of, type) and mine is not None:
            if len(mine) != len(other):
                found.append(f"{path}{field.name}: {len(mine)} elements, not {len(other)}")
            for number, (a, b) in enumerate(zip(mine, other, strict=False)):
                found += differences(a, b, version, f"{path}{field.name}[{number}].")
        elif mine != plain(other, field):
            found.append(f"{path}{field.name}: {mine!r}, not {other!r}")
    return found


def default_of(cls: Any) -> Any:
    return cls(**{field.name: field.default for field in cls.FIELDS})


def their_names(name: str) -> tuple[str, ...]:
    """kio has spans without their unit; kafka-python does not say whose the operations are."""
    return name, name.removesuffix("_ms"), "authorized_operations"


def plain(value: Any, field: Field) -> Any:
    """A value of another library as ours would be."""
    if field.kind == "uuid":
        return ZERO_UUID if value is None else value.bytes
    if value is None and field.name.endswith("authorized_operations"):
        return -(2**31)
    if value is None and field.name == "log_append_time_ms":
        return -1
    if isinstance(value, set):
        bits = sum(1 << bit for bit in value)
        return bits - 2**32 if bits >= 2**31 else bits
    if isinstance(value, datetime.timedelta):
        return round(value / MS)
    if isinstance(value, datetime.datetime):
        return round((value - EPOCH) / MS)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [item.bytes if isinstance(item, UUID) else item for item in value]
    return value


KIO = Oracle("kio", kio_class, kio_read, kio_write, kio_write_with_header, kio_narrow)
KAFKA_PYTHON = Oracle(
    "kafka-python",
    kafka_python_class,
    kafka_python_read,
    kafka_python_write,
    kafka_python_write_with_header,
    kafka_python_narrow,
)
