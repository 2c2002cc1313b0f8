"""What bytes say once they are decoded: wide characters, base64, hex and compressed streams, also one within another.

A tar archive, and what a zip archive stores as it is, can be read without. Only ASCII is looked for, as tokens are.
"""

from __future__ import annotations

import binascii
import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Final, Protocol

DEPTH: Final = 3
LARGEST: Final = 8_000_000  # bytes of one view
MOST: Final = 16_000_000  # bytes that are decoded of one content
_FIRST, _TIMES = 1_000_000, 50  # of a small one so many, and so many times its size: many small bombs cost little
_STEP = 4096
_MEMORY = 80_000_000  # what `xz -9` needs

_WIDE: Final = tuple(
    (re.compile(b"(?:%s){12,}" % unit), start, width)
    for unit, start, width in (
        (rb"[\t\n\r -~]\0", 0, 2),
        (rb"\0[\t\n\r -~]", 1, 2),
        (rb"[\t\n\r -~]\0\0\0", 0, 4),
        (rb"\0\0\0[\t\n\r -~]", 3, 4),
    )
)
# Between two lines of one value: the line's end as it is or escaped, and what quotes or comments put around it.
_JOINT: Final = rb"""(?:(?:\\[rn])+|["']?[ \t,\\]*\r?\n[ \t#*>]*(?:[bru]?["'])?)"""
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]{16,}(?:%s[A-Za-z0-9+/_-]+)*" % _JOINT)
_BETWEEN_LINES: Final = re.compile(_JOINT)
_HEX: Final = re.compile(rb"""(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[\s,:"']{0,20}){12,}""")
_NO_DIGITS: Final = re.compile(rb"0x|[^0-9A-Fa-f]")
_STREAM: Final = re.compile(
    rb"(?P<gzip>\x1f\x8b\x08)|(?P<zlib>x[\x01\x5e\x9c\xda])|(?P<bz2>BZh[1-9]1AY&SY)|(?P<xz>\xfd7zXZ\0)"
    rb"|(?P<lzma>\A\x5d\0\0)|(?P<zip>PK\x03\x04..(?P<flags>..)\x08\0.{16}(?P<name>..)(?P<extra>..))",
    re.DOTALL,
)


class _Stream(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, /, max_length: int = ...) -> bytes: ...


_OPENED: Final[dict[str, Callable[[], _Stream]]] = {
    "gzip": lambda: zlib.decompressobj(31),
    "zlib": lambda: zlib.decompressobj(15),
    "zip": lambda: zlib.decompressobj(-15),
    "bz2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=_MEMORY),
    "lzma": lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=_MEMORY),
}


def decoded_views(content: bytes) -> Iterator[bytes]:
    """All that can be decoded of bytes, what needs fewer steps first; without the bytes themselves."""
    room = _Room(min(MOST, _FIRST + _TIMES * len(content)))
    layer = [content[:LARGEST]]
    for _ in range(DEPTH):
        deeper = []
        for outer in layer:
            for inner in filter(None, _decoded_once(outer, room)):
                yield inner
                deeper.append(inner)
        layer = deeper


class _Room:
    """How many bytes may still be decoded."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, size: int) -> bool:
        """Whether there was room for so many."""
        self.left -= size
        return self.left >= 0


def _decoded_once(outer: bytes, room: _Room) -> Iterator[bytes]:
    for found in _STREAM.finditer(outer):
        if room.left <= 0:
            return
        yield _decompressed(outer, found, room)
    for view in (*_narrow(outer), *_from_hex(outer), *_from_base64(outer)):
        if room.take(len(view)):
            yield view


def _narrow(outer: bytes) -> Iterator[bytes]:
    """What is written in characters of two or four bytes, in either order."""
    if b"\0" in outer:
        for runs, start, width in _WIDE:
            yield b"\n".join(run[start::width] for run in runs.findall(outer))


def _from_hex(outer: bytes) -> Iterator[bytes]:
    """What is written in hex; what is before it may be a digit, too: read from two places."""
    digits = [_NO_DIGITS.sub(b"", run) for run in _HEX.findall(outer)]
    for start in range(2):
        yield b"\n".join(binascii.unhexlify(run[start : len(run) - (len(run) - start) % 2]) for run in digits)


def _from_base64(outer: bytes) -> Iterator[bytes]:
    """What is written in base64 of either alphabet; what is before it may look alike: read from four places."""
    signs = [_BETWEEN_LINES.sub(b"", run).translate(_ONE_ALPHABET) for run in _BASE64.findall(outer)]
    for start in range(4):
        yield b"\n".join(_bytes_of(run[start:]) for run in signs)


_ONE_ALPHABET: Final = bytes.maketrans(b"-_", b"+/")


def _bytes_of(signs: bytes) -> bytes:
    whole = signs[:-1] if len(signs) % 4 == 1 else signs
    return binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))


def _decompressed(outer: bytes, found: re.Match[bytes], room: _Room) -> bytes:
    """The beginning of a compressed stream; empty where there is none. What is read counts, and what comes out."""
    kind = next(name for name in _OPENED if found[name] is not None)
    at, stream, view = _start(found), _OPENED[kind](), bytearray()
    try:
        while not stream.eof and len(view) < LARGEST and at < len(outer) and room.left > 0:
            piece = outer[at : at + _STEP]
            told = stream.decompress(piece, min(LARGEST - len(view), room.left))
            room.take(len(piece) + len(told))
            view += told
            at += _STEP
    except (zlib.error, lzma.LZMAError, OSError, ValueError, EOFError):
        pass  # what came out before counts
    return bytes(view)


def _start(found: re.Match[bytes]) -> int:
    """Where a stream begins: in a zip archive after the name of the file."""
    if found["zip"] is None:
        return found.start()
    return found.end() + int.from_bytes(found["name"], "little") + int.from_bytes(found["extra"], "little")
