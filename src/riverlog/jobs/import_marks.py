"""Marks that an import leaves on its records, so that the topic itself tells what is in it."""

HEADER = "riverlog-import"


class RowSet:
    """Numbers of rows, a bit for each."""

    def __init__(self) -> None:
        self.bits = bytearray()
        self.count = 0

    def add(self, number: int) -> None:
        """Takes one in; a second time changes nothing."""
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self.bits):
            self.bits += bytes(max(place + 1 - len(self.bits), len(self.bits)))
        if not self.bits[place] & bit:
            self.bits[place] |= bit
            self.count += 1

    def merge(self, other: "RowSet") -> None:
        """Takes in all of another."""
        both = int.from_bytes(self.bits, "little") | int.from_bytes(other.bits, "little")
        self.bits = bytearray(both.to_bytes(max(len(self.bits), len(other.bits)), "little"))
        self.count = both.bit_count()

    def __contains__(self, number: int) -> bool:
        place = number >> 3
        return place < len(self.bits) and bool(self.bits[place] & (1 << (number & 7)))


def mark(import_id: str, file_name: str, number: int) -> bytes:
    """What the header of a record says: which row of which file of which import it is."""
    return f"{import_id}/{file_name}:{number}".encode()


def row_of(text: bytes, import_id: str) -> tuple[str, int] | None:
    """The file and the number of the row that a mark of this import tells of."""
    prefix = f"{import_id}/".encode()
    if not text.startswith(prefix):
        return None
    file_name, _, digits = text.removeprefix(prefix).decode(errors="replace").rpartition(":")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        return None
    return file_name, int(digits)
