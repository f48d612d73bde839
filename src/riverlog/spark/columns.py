"""The columns of a source and of a sink, as Spark's types."""

from collections.abc import Iterable

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from riverlog.spark.errors import InvalidOption

HEADERS = ArrayType(
    StructType([StructField("key", StringType()), StructField("value", BinaryType())])
)
TYPES: dict[str, DataType] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": HEADERS,
}
_WRITTEN: dict[str, tuple[DataType, ...]] = {
    "value": (BinaryType(), StringType()),
    "key": (BinaryType(), StringType()),
    "headers": (HEADERS,),
    "topic": (StringType(),),
    "partition": (IntegerType(),),
}


def source_schema(with_headers: bool) -> StructType:
    """All columns of a source; those for headers only on demand, as they are the dearest."""
    names = [name for name in TYPES if with_headers or name != "headers"]
    return StructType([StructField(name, TYPES[name]) for name in names])


def chosen_columns(schema: StructType) -> tuple[str, ...]:
    """The columns that a user's schema asks for, in its order; raises `InvalidOption`."""
    if not schema.fields:
        raise InvalidOption("the schema has no column")
    for field in schema.fields:
        expected = TYPES.get(field.name)
        if expected is None:
            raise InvalidOption(f"no column '{field.name}': there are {', '.join(TYPES)}")
        _check_type(field, [expected])
    return tuple(schema.fieldNames())


def check_written(schema: StructType, topic: str | None) -> None:
    """Raises `InvalidOption` unless rows like these can be written."""
    names = schema.fieldNames()
    if "value" not in names:
        raise InvalidOption("a column 'value' is needed, of strings or binary")
    if topic is None and "topic" not in names:
        raise InvalidOption("the option topic or a column 'topic' says where rows go")
    for field in schema.fields:
        if field.name not in _WRITTEN:
            raise InvalidOption(
                f"a column '{field.name}' cannot be written: there are {', '.join(_WRITTEN)}"
            )
        _check_type(field, _WRITTEN[field.name])


def _check_type(field: StructField, allowed: Iterable[DataType]) -> None:
    found = field.dataType.simpleString()
    expected = [each.simpleString() for each in allowed]
    if found not in expected:
        raise InvalidOption(f"column '{field.name}' is {' or '.join(expected)}, not {found}")
