"""The bytes of a GGUF header, fetched as they are needed and never beyond a cap.

Every read of the header goes through `Window`, so that there is one place that knows how much of
the file remains. A count or length from the file is compared with it before anything is
allocated.
"""

import struct
from typing import BinaryIO

from veneer.errors import FormatError

HEADER_CAP = 64 << 20
"""The largest header that is read, in bytes. Real ones (300,000 tokens) stay below 20 MB."""

_FIRST_FETCH = 1 << 20


class Window:
    """A cursor over the start of an open file.

    `data` holds the bytes fetched so far and `pos` is where the next read starts; both are public
    because the loop over token strings is too hot for a call per string.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.size = file.seek(0, 2)
        file.seek(0)
        self._file = file
        self.data = b""
        self.pos = 0

    @property
    def remaining(self) -> int:
        """How many bytes the file has after the cursor."""
        return self.size - self.pos

    def reach(self, end: int) -> bytes:
        """Make the first `end` bytes available and return everything that is.

        Raises `FormatError` TRUNCATED past the end of the file, SIZE past the cap.
        """
        if end > len(self.data):
            self._fetch(end)
        return self.data

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        start, self.pos = self.pos, self.pos + count
        return self.reach(self.pos)[start : self.pos]

    def scalar(self, form: str) -> int | float:
        """The next number, by its struct format."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def u32(self) -> int:
        """The next unsigned 32-bit number."""
        return int(self.scalar("<I"))

    def u64(self) -> int:
        """The next unsigned 64-bit number. Bound it before use."""
        return int(self.scalar("<Q"))

    def _fetch(self, end: int) -> None:
        if end > self.size:
            raise FormatError("TRUNCATED", "The file ends in the middle of its header.")
        if end > HEADER_CAP:
            raise FormatError("SIZE", f"The header is larger than {HEADER_CAP >> 20} MB.")
        wanted = min(max(end, 2 * len(self.data), _FIRST_FETCH), self.size, HEADER_CAP)
        parts = [self.data]
        have = len(self.data)
        while have < wanted:
            part = self._file.read(wanted - have)
            if not part:
                raise FormatError("TRUNCATED", "The file became shorter while it was read.")
            parts.append(part)
            have += len(part)
        self.data = b"".join(parts)
