"""The file that describes a pipeline: what is read, and one line for what cannot be."""

import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riverlog.pipelines.errors import PipelineRefused
from riverlog.pipelines.spec import find_spec, load_spec
from tests.pipelines.projects import SPEC

pytestmark = pytest.mark.client("pyyaml")


def write(directory: Path, text: str) -> Path:
    path = directory / f"{uuid4().hex}.yml"
    path.write_text(text)
    return path


def test_what_is_left_out_has_spark_s_defaults(tmp_path: Path) -> None:
    spec = load_spec(write(tmp_path, SPEC))

    assert (spec.name, spec.catalog, spec.database) == ("shop", "spark_catalog", "default")
    assert spec.configuration == {}
    assert spec.globs == ("transformations/**",)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "should be a mapping with name, storage and libraries"),
        ("a: [", "is no YAML (line 1)"),
        (SPEC + "nmae: shop\n", "'nmae' is no field"),
        (SPEC.replace("name: shop\n", ""), "'name' is missing"),
        (SPEC.replace("name: shop", "name: 7"), "'name' should be a text"),
        (SPEC.replace("file:///tmp/nowhere", "state"), "'storage' should be a URI like file:///"),
        (SPEC.replace("file:///tmp/nowhere", "file:/x"), "'storage' should be a URI like file:///"),
        (SPEC.replace("/nowhere", "/no where"), "'storage' should have no spaces"),
        (SPEC + "configuration: 3\n", "'configuration' should be a mapping of texts"),
        (SPEC + "configuration: {a: 4}\n", "'a' should be a text; put it in quotes"),
        (SPEC.partition("libraries")[0], "'libraries' should list where the definitions are"),
        (SPEC.replace("glob:", "file:"), "an entry of 'libraries' should be `glob: {include: …}`"),
        (SPEC.replace("/**", "/**/*.py"), "should be a file, or a directory with /** behind it"),
        (SPEC.replace("trans", "/trans"), "should be a path within the project"),
    ],
)
def test_what_spark_would_refuse_is_refused_with_a_sentence(
    tmp_path: Path, text: str, complaint: str
) -> None:
    path = write(tmp_path, text)

    with pytest.raises(PipelineRefused) as refusal:
        load_spec(path)

    assert str(refusal.value).startswith(f"{path.name}: ")
    assert complaint in str(refusal.value)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("file:///tmp/x"),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["glob", "include", "a", 1]), below, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = ["name", "storage", "catalog", "database", "configuration", "libraries", "other"]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(FIELDS), values, max_size=5))
def test_any_fields_give_a_spec_or_one_line(tmp_path: Path, fields: dict[str, object]) -> None:
    import yaml  # type: ignore[import-untyped] # it has no types

    path = write(tmp_path, yaml.safe_dump(fields))

    try:
        spec = load_spec(path)
    except PipelineRefused:
        return
    assert spec.name
    assert spec.globs


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text(alphabet=":-[]{}&*!|> a\n\t'\"%", max_size=60))
def test_any_file_gives_a_spec_or_one_line(tmp_path: Path, content: bytes | str) -> None:
    path = tmp_path / f"{uuid4().hex}.yml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(PipelineRefused):
        load_spec(path)


def test_the_spec_is_found_from_a_directory_below(tmp_path: Path) -> None:
    (tmp_path / "spark-pipeline.yml").write_text(SPEC)
    (tmp_path / "transformations").mkdir()

    assert find_spec(str(tmp_path / "transformations")) == tmp_path / "spark-pipeline.yml"


def test_two_specs_in_a_directory_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "spark-pipeline.yml").write_text(SPEC)
    (tmp_path / "spark-pipeline.yaml").write_text(SPEC)

    with pytest.raises(PipelineRefused, match="keep one"):
        find_spec(str(tmp_path))


def test_reading_a_project_loads_neither_spark_nor_arrow() -> None:
    program = "import sys, riverlog.cli.pipeline; print({'pyspark', 'pyarrow'} & {*sys.modules})"

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert said.stdout == b"set()\n"
