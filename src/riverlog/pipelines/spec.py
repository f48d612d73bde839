"""The file that describes a pipeline, `spark-pipeline.yml`, as Spark's own runner reads it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from riverlog.pipelines.errors import PipelineRefused

FILE_NAMES = ("spark-pipeline.yml", "spark-pipeline.yaml")
FILE_BYTES_MAX = 1 << 20
_FIELDS = ("name", "storage", "catalog", "database", "schema", "configuration", "libraries")
_WILD = set("*?[")
# Spark writes them as %20 and the like, and then makes a directory of that name.
UNSAFE = frozenset(" \t\n\r\"'\\%<>[]^`{|}#?;")


class Spec(NamedTuple):
    """What it says; `configuration` has Spark's settings, and those of the definitions."""

    path: Path
    name: str
    storage: str
    catalog: str
    database: str
    configuration: Mapping[str, str]
    globs: tuple[str, ...]

    @property
    def directory(self) -> Path:
        """The project; what the file names is found from here."""
        return self.path.parent


def find_spec(asked: str) -> Path:
    """The file of a project, or in it, or in a directory above; raises `PipelineRefused`."""
    path = Path(os.path.abspath(asked))
    if path.is_file():
        return path
    if not path.is_dir():
        raise PipelineRefused(f"{asked}: there is no such project")
    for directory in (path, *path.parents):
        found = [directory / name for name in FILE_NAMES if (directory / name).is_file()]
        if len(found) > 1:
            raise PipelineRefused(f"{directory}: has both {' and '.join(FILE_NAMES)}; keep one")
        if found:
            return found[0]
    raise PipelineRefused(
        f"{asked}: has no {FILE_NAMES[0]}; `riverlog pipeline init NAME` makes a project"
    )


def load_spec(path: Path) -> Spec:
    """What the file says; raises `PipelineRefused` for what Spark would refuse as well."""
    found = _yaml(path)
    if not isinstance(found, dict):
        raise _refused(path, "should be a mapping with name, storage and libraries")
    for field in found:
        if field not in _FIELDS:
            raise _refused(path, f"'{field}' is no field; there are {', '.join(_FIELDS)}")
    return Spec(
        path,
        name=_text(path, found, "name"),
        storage=_storage(path, _text(path, found, "storage")),
        catalog=_text(path, found, "catalog", "spark_catalog"),
        database=_text(path, found, "database", _text(path, found, "schema", "default")),
        configuration=_configuration(path, found.get("configuration", {})),
        globs=_globs(path, found.get("libraries")),
    )


def _yaml(path: Path) -> object:
    try:
        import yaml  # type: ignore[import-untyped] # it has no types, and comes with pyspark's extra
    except ModuleNotFoundError:
        raise PipelineRefused("this needs PyYAML: pip install 'pyspark[pipelines]'") from None
    with path.open("rb") as file:
        text = file.read(FILE_BYTES_MAX + 1)
    if len(text) > FILE_BYTES_MAX:
        raise _refused(path, "is too large to be a pipeline's description")
    try:
        found: object = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" (line {mark.line + 1})"
        raise _refused(path, f"is no YAML{where}") from None
    return found


def _text(path: Path, found: Mapping[Any, Any], field: str, default: str | None = None) -> str:
    value = found.get(field)
    value = default if value is None else value
    if value is None:
        raise _refused(path, f"'{field}' is missing")
    if not isinstance(value, str) or not value.strip():
        raise _refused(path, f"'{field}' should be a text")
    return value


def _storage(path: Path, value: str) -> str:
    # Spark would find out only after it has started.
    scheme, found, rest = value.partition(":/")
    if not found or not scheme or (scheme == "file" and not rest.startswith("/")):
        raise _refused(path, f"'storage' should be a URI like file:///path, not '{value}'")
    if UNSAFE & set(value):
        raise _refused(path, f"'storage' should have no spaces, quotes or percent signs: '{value}'")
    return value


def _configuration(path: Path, value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise _refused(path, "'configuration' should be a mapping of texts")
    for name, text in value.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise _refused(path, f"configuration: '{name}' should be a text; put it in quotes")
    return value


def _globs(path: Path, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise _refused(path, "'libraries' should list where the definitions are")
    globs = []
    for entry in value:
        include = entry.get("glob") if isinstance(entry, dict) else None
        text = include.get("include") if isinstance(include, dict) else None
        if not isinstance(text, str) or not text:
            raise _refused(path, "an entry of 'libraries' should be `glob: {include: …}`")
        if os.path.isabs(text):
            raise _refused(path, f"'{text}' should be a path within the project")
        if _WILD & set(text.removesuffix("/**")):
            raise _refused(path, f"'{text}' should be a file, or a directory with /** behind it")
        globs.append(text)
    return tuple(globs)


def _refused(path: Path, text: str) -> PipelineRefused:
    return PipelineRefused(f"{path.name}: {text}")
