"""Text files that are sent along with a question."""

from pathlib import Path

from veneer.chat.conversation import Attachment
from veneer.errors import NotText
from veneer.formats.foreign import one_line
from veneer.store.fs import Fs

MOST_BYTES = 256 << 10
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def read_attachment(fs: Fs, path: Path) -> Attachment:
    """Read a text file: UTF-8, or UTF-16 with its mark. Raises `NotText`, `StoreError`."""
    name = one_line(path.name, 80) or "file"
    found = fs.stat(path)
    if found is not None and not found.is_file:
        raise NotText(f"“{name}” is not a file.")
    with fs.open_read(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NotText(
            f"“{name}” is larger than {MOST_BYTES >> 10} KiB, more than a conversation takes in."
        )
    return Attachment(name=name, text=_decoded(name, data))


def _decoded(name: str, data: bytes) -> str:
    encoding = next((e for mark, e in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise NotText(f"“{name}” is not a text file (it is not UTF-8).") from error
    if "\0" in text:
        raise NotText(f"“{name}” is not a text file: it has bytes of zero in it.")
    return text.replace("\r\n", "\n")
