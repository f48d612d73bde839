"""Every table has the shape that Kafka 4.2 gives the message, in each of its versions."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.schema import ZERO_UUID, Field, Versions
from tests.protocol.strategies import TABLES, versions_of_table

SPECS = Path(__file__).parents[2] / ".." / "shared" / "kafka-specs"
SPEC_FILE = SPECS / "messages-4.2.json"
needs_specs = pytest.mark.skipif(not SPECS.is_dir(), reason="kafka-specs is not here")

# Tiers 1 and 2: what clients, tools and UIs ask of a broker.
TIER_1 = {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 18, 19, 20, 22, 32}
TIER_2 = {15, 16, 17, 21, 23, 24, 25, 26, 28, 29, 30, 31, 33, 35, 36, 37, 42, 44, 47}
TIER_2 |= {50, 51, 60, 61, 65, 66, 75}

PRIMITIVES = {
    "boolean": "bool", "int8": "int8", "int16": "int16", "uint16": "uint16", "int32": "int32",
    "uint32": "uint32", "int64": "int64", "float64": "float64", "uuid": "uuid",
    "string": "string", "data": "bytes", "records": "records",
}  # fmt: skip
ZEROS = {"bool": False, "string": "", "bytes": b"", "uuid": ZERO_UUID, "float64": 0.0}

Lines = Iterator[str]


def test_the_tables_are_those_of_tiers_1_and_2() -> None:
    assert set(ApiKey) == TIER_1 | TIER_2
    for key in ApiKey:
        assert [cls.API_KEY for cls in tables(key)] == [key, key]  # type: ignore[attr-defined]  # a declared message


@needs_specs
@pytest.mark.parametrize("cls", TABLES, ids=lambda cls: cls.__name__)
def test_a_table_has_kafkas_shape_in_every_version(cls: Any) -> None:
    spec = json.loads(SPEC_FILE.read_text())[cls.__name__]
    common = {part["name"]: part["fields"] for part in spec.get("commonStructs", ())}
    valid, flexible = Versions(spec["validVersions"]), Versions(spec["flexibleVersions"])

    assert spec["apiKey"] == cls.API_KEY
    assert cls.__name__.lower().endswith(spec["type"])
    assert (valid.first, valid.last) == (cls.VERSIONS.first, cls.VERSIONS.last)
    for version in versions_of_table(cls):
        assert (version in flexible) == (version in cls.FLEXIBLE), f"flexible at v{version}"
        shape = list(our_shape(cls, version))
        assert shape == list(spec_shape(spec["fields"], common, version)), f"at v{version}"


@needs_specs
@pytest.mark.parametrize("cls", TABLES, ids=lambda cls: cls.__name__)
def test_a_table_has_kafkas_defaults(cls: Any) -> None:
    spec = json.loads(SPEC_FILE.read_text())[cls.__name__]
    common = {part["name"]: part["fields"] for part in spec.get("commonStructs", ())}
    last = cls.VERSIONS.last

    wrong = list(wrong_defaults(cls, spec["fields"], common, cls.VERSIONS.first, last))

    assert wrong == []


def our_shape(cls: Any, version: int, path: str = "") -> Lines:
    """One line per field that `version` has, those of inner structs after their own."""
    for field in cls.FIELDS:
        if version in field.versions:
            name = path + squeezed(field.name)
            yield line(name, our_type(field), version in field.nullable, field.tag)
            if isinstance(field.of, type):
                yield from our_shape(field.of, version, name + ".")


def spec_shape(fields: Any, common: Any, version: int, path: str = "") -> Lines:
    """The same lines, from Kafka's own description."""
    for field in fields:
        if version in Versions(field["versions"]):
            name = path + squeezed(field["name"])
            is_nullable = version in Versions(field.get("nullableVersions", "none"))
            is_tagged = version in Versions(field.get("taggedVersions", "none"))
            tag = field["tag"] if is_tagged else None
            yield line(name, spec_type(field), is_nullable, tag)
            yield from spec_shape(inner_fields(field, common), common, version, name + ".")


def line(name: str, kind: str, is_nullable: bool, tag: int | None) -> str:
    return f"{name} {kind}{' nullable' * is_nullable}{'' if tag is None else f' tag {tag}'}"


def squeezed(name: str) -> str:
    return name.replace("_", "").lower()


def our_type(field: Field) -> str:
    if field.kind == "structure":
        return "struct"
    if field.kind == "array":
        inner = "struct" if isinstance(field.of, type) else PRIMITIVES[field.of().kind]
        return "[]" + inner
    return PRIMITIVES[field.kind]


def spec_type(field: Any) -> str:
    brackets = "[]" if field["type"].startswith("[]") else ""
    name = field["type"].removeprefix("[]")
    return brackets + (name if name in PRIMITIVES.values() else "struct")


def inner_fields(field: Any, common: Any) -> Any:
    return field.get("fields") or common.get(field["type"].removeprefix("[]"), ())


def wrong_defaults(
    cls: Any, fields: Any, common: Any, first: int, last: int, path: str = ""
) -> Lines:
    """The fields whose default is not what Kafka says: a given one to the letter.

    Where Kafka gives none, ours must be given by the caller, or be the zero of the type, or null
    where the field can be null. A field that no version of ours has is no matter here.
    """
    known = {squeezed(field.name): field for field in cls.FIELDS}
    for spec in fields:
        versions = Versions(spec["versions"])
        if versions.last < first or versions.first > last:
            continue
        field = known[squeezed(spec["name"])]
        name = path + field.name
        if "default" in spec:
            is_right = not field.is_required and field.default == spec_default(spec)
        else:
            zeros = [spec_zero(spec)] + [None] * ("nullableVersions" in spec)
            is_right = field.is_required or field.default in zeros
        if not is_right:
            yield f"{name}: {field.default!r}, not {spec.get('default')!r}"
        if isinstance(field.of, type):
            inner = inner_fields(spec, common)
            yield from wrong_defaults(field.of, inner, common, first, last, name + ".")


def spec_default(spec: Any) -> Any:
    written, kind = str(spec["default"]), spec["type"]
    if written == "null":
        return None
    if kind == "bool":
        return {"true": True, "false": False}[written.lower()]
    return int(written, 0) if "int" in kind else written


def spec_zero(spec: Any) -> Any:
    kind = spec_type(spec)
    if kind.startswith("[]"):
        return ()
    # A struct that is absent reads as None here, where Kafka makes one of defaults.
    return None if kind in ("struct", "records") else ZEROS.get(kind, 0)
