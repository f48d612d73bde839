"""How a message is declared: one class, one line per field, version ranges on the lines.

    @message(key=12, versions="0-4", flexible="4+")
    class HeartbeatRequest:
        group_id: str = string()
        generation_id: int = int32()
        member_id: str = string()
        group_instance_id: str | None = string("3+", nullable="3+", default=None)

Declaring is cheap: nothing is compiled until a message is first built, read or written. A field
without `default` must be given when a message is built; a field that a version does not have
reads as its default, or as the zero of its type.
"""

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

C = TypeVar("C")

VERSION_MAX = 32767
ZERO_UUID = bytes(16)


class Versions:
    """An inclusive range of versions; "3+", "0-4", "2" or "none" in writing."""

    __slots__ = ("first", "last")

    def __init__(self, text: str) -> None:
        if text == "none":
            self.first, self.last = 1, 0
        elif text.endswith("+"):
            self.first, self.last = int(text[:-1]), VERSION_MAX
        else:
            first, _, last = text.partition("-")
            self.first, self.last = int(first), int(last or first)

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last


ALL = Versions("0+")
NONE = Versions("none")
_REQUIRED = object()
_parsed: dict[str, Versions] = {"0+": ALL, "none": NONE}


def versions_of(text: str) -> Versions:
    found = _parsed.get(text)
    if found is None:
        found = _parsed[text] = Versions(text)
    return found


class Field:
    """One line of a message. `kind` names the wire type; an array or struct also has `of`."""

    __slots__ = ("default", "is_required", "kind", "name", "nullable", "of", "tag", "versions")

    def __init__(
        self,
        kind: str,
        versions: str,
        nullable: str,
        default: Any,
        tag: int | None,
        of: Any = None,
    ) -> None:
        self.name = ""
        self.kind = kind
        self.of = of
        self.versions = versions_of(versions)
        self.nullable = versions_of(nullable)
        self.tag = tag
        self.is_required = default is _REQUIRED
        self.default = _ZEROS.get(kind) if self.is_required else default


_ZEROS: dict[str, Any] = {
    "boolean": False,
    "int8": 0,
    "int16": 0,
    "uint16": 0,
    "int32": 0,
    "uint32": 0,
    "int64": 0,
    "float64": 0.0,
    "uuid": ZERO_UUID,
    "string": "",
    "data": b"",
    "records": None,
    "array": (),
    "structure": None,
}


def _primitive(kind: str) -> Callable[..., Any]:
    def specify(
        versions: str = "0+",
        *,
        nullable: str = "none",
        default: Any = _REQUIRED,
        tag: int | None = None,
    ) -> Any:
        return Field(kind, versions, nullable, default, tag)

    specify.__name__ = kind
    return specify


boolean = _primitive("boolean")
int8 = _primitive("int8")
int16 = _primitive("int16")
uint16 = _primitive("uint16")
int32 = _primitive("int32")
uint32 = _primitive("uint32")
int64 = _primitive("int64")
float64 = _primitive("float64")
uuid = _primitive("uuid")
string = _primitive("string")
data = _primitive("data")
records = _primitive("records")


def array(
    of: Any,
    versions: str = "0+",
    *,
    nullable: str = "none",
    default: Any = _REQUIRED,
    tag: int | None = None,
) -> Any:
    """A sequence of structs (`of` is their class) or of primitives (`of` is e.g. `int32`)."""
    return Field("array", versions, nullable, default, tag, of)


def structure(
    of: Any,
    versions: str = "0+",
    *,
    nullable: str = "none",
    default: Any = _REQUIRED,
    tag: int | None = None,
) -> Any:
    """One struct inside another."""
    return Field("structure", versions, nullable, default, tag, of)


@dataclass_transform(
    kw_only_default=True,
    field_specifiers=(
        boolean,
        int8,
        int16,
        uint16,
        int32,
        uint32,
        int64,
        float64,
        uuid,
        string,
        data,
        records,
        array,
        structure,
    ),
)
def message(key: int, versions: str, flexible: str) -> Callable[[type[C]], type[C]]:
    """Declares a request or a response of API `key`."""

    def declare(cls: type[C]) -> type[C]:
        made = _declare(cls)
        made.API_KEY = key
        made.VERSIONS = versions_of(versions)
        made.FLEXIBLE = versions_of(flexible)
        return made  # type: ignore[no-any-return]  # built from `cls`, with slots

    return declare


@dataclass_transform(
    kw_only_default=True,
    field_specifiers=(
        boolean,
        int8,
        int16,
        uint16,
        int32,
        uint32,
        int64,
        float64,
        uuid,
        string,
        data,
        records,
        array,
        structure,
    ),
)
def struct(cls: type[C]) -> type[C]:
    """Declares a part of messages; its versions are those of the message it stands in."""
    return _declare(cls)  # type: ignore[no-any-return]  # built from `cls`, with slots


def _declare(cls: Any) -> Any:
    fields = []
    namespace: dict[str, Any] = {}
    for name, value in vars(cls).items():
        if isinstance(value, Field):
            value.name = name
            fields.append(value)
        elif name not in ("__dict__", "__weakref__", "__annotations__"):
            namespace[name] = value
    namespace["__slots__"] = (*(field.name for field in fields), "unknown_tags")
    namespace["FIELDS"] = tuple(fields)
    namespace["CODECS"] = {}
    namespace["__init__"] = _compile_init_and_call
    namespace["__eq__"] = _equal
    namespace["__hash__"] = None
    namespace["__repr__"] = _represent
    return type(cls)(cls.__name__, (), namespace)


def _compile_init_and_call(self: Any, **values: Any) -> None:
    """Stands in for `__init__` until the first message of a class is built."""
    cls = type(self)
    parameters = []
    body = ["    self.unknown_tags = b''"]
    scope: dict[str, Any] = {}
    for field in cls.FIELDS:
        if field.is_required:
            parameters.append(field.name)
        else:
            scope[f"default_{field.name}"] = field.default
            parameters.append(f"{field.name}=default_{field.name}")
        body.append(f"    self.{field.name} = {field.name}")
    star = ", *, " if parameters else ""
    source = f"def __init__(self{star}{', '.join(parameters)}):\n" + "\n".join(body)
    exec(source, scope)
    cls.__init__ = scope["__init__"]
    self.__init__(**values)


def _equal(self: Any, other: object) -> Any:
    names: tuple[str, ...] = self.__slots__
    if type(self) is not type(other):
        return NotImplemented
    return all(_same(getattr(self, name), getattr(other, name)) for name in names)


def _same(mine: Any, other: Any) -> bool:
    if isinstance(mine, list | tuple) and isinstance(other, list | tuple):
        return len(mine) == len(other) and all(map(_same, mine, other))
    return bool(mine == other)


def _represent(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in self.FIELDS)
    return f"{type(self).__name__}({shown})"
