"""The smallest picture and the shortest sound that are what they say they are."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Final


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png() -> bytes:
    """One red pixel."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def wav() -> bytes:
    """A hundredth of a second of silence."""
    samples = bytes([128]) * 80
    kind = struct.pack("<HHIIHH", 1, 1, 8_000, 8_000, 1, 8)
    body = b"WAVEfmt " + struct.pack("<I", len(kind)) + kind + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


PNG: Final = base64.b64encode(png()).decode()
WAV: Final = base64.b64encode(wav()).decode()
