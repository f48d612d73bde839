"""Marks that an import leaves on its records, so that the topic itself tells what is in it."""

HEADER = "riverlog-import"


class RowSet:
    """Numbers of rows, a bit for each."""

    def __init__(self) -> None:
        self._bits = bytearray()
        self.count = 0

    def add(self, number: int) -> None:
        """Takes one in; a second time changes nothing."""
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self._bits):
            self._bits += bytes(max(place + 1 - len(self._bits), len(self._bits)))
        if not self._bits[place] & bit:
            self._bits[place] |= bit
            self.count += 1

    def __contains__(self, number: int) -> bool:
        place = number >> 3
        return place < len(self._bits) and bool(self._bits[place] & (1 << (number & 7)))


def mark(import_id: str, file_name: str, number: int) -> bytes:
    """What the header of a record says: which row of which file of which import it is."""
    return f"{import_id}/{file_name}:{number}".encode()
