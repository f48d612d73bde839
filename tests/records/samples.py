"""Records and batches that the tests of this folder share."""

from hypothesis import strategies as st

from riverlog.records.compression import Codec
from riverlog.records.record import Record

SIZE_MAX = 1 << 20
CODECS = list(Codec)
COMPRESSED = [codec for codec in Codec if codec is not Codec.NONE]

# Every shape a record can have; the long values take varints of three bytes.
RECORDS = [
    Record(0, 1_700_000_000_000, b"key", b"value"),
    Record(1, 1_700_000_000_050, None, b"no key"),
    Record(2, 1_699_999_999_000, b"earlier, and no value", None),
    Record(3, 1_700_000_900_000, b"", b""),
    Record(4, 1_700_000_000_001, None, None),
    Record(
        5,
        1_700_000_000_002,
        b"k" * 100,
        b"v" * 20_000,
        (("trace", b"1"), ("trace", None), ("", b""), ("größe", b"x" * 300)),
    ),
]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
blobs = st.none() | st.binary(max_size=300)


@st.composite
def record_lists(draw: st.DrawFn, with_gaps: bool = False) -> list[Record]:
    """Records as a producer numbers them, or as compaction leaves them."""
    records = []
    offset = -1
    for _ in range(draw(st.integers(1, 12))):
        offset += draw(st.integers(1, 100_000)) if with_gaps else 1
        records.append(
            Record(
                offset,
                draw(st.integers(-(2**62), 2**62 - 1) | st.integers(0, 5000)),
                draw(blobs),
                draw(blobs),
                tuple(draw(st.lists(st.tuples(texts, blobs), max_size=3))),
            )
        )
    return records
