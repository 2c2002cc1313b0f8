"""The line from the test runner to the host: what was said on it cannot be unsaid.

Each piece is signed with a key that is replaced by its own hash afterwards: whoever finds the key later cannot have
said anything before, and a piece that is left out, said twice or put in between does not fit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import blake2b

LONGEST_PIECE = 12_000  # the host cuts lines at 16,384 characters


def open_channel(descriptor: int, key: bytes) -> Callable[..., None]:
    """A function that says one fact: a few strings. Only the process that opened the channel is heard."""
    # What is needed is held here: the code under test can replace what modules and classes name.
    write, getpid, sign, encode, owner = os.write, os.getpid, blake2b, str.encode, os.getpid()
    write(descriptor, b"\n")

    def say(*words: str) -> None:
        nonlocal key
        if getpid() != owner:
            return
        fact = b"\t".join([encode(word, "unicode_escape") for word in words])
        for start in range(0, len(fact), LONGEST_PIECE):
            piece = fact[start : start + LONGEST_PIECE]
            mark = b"." if start + LONGEST_PIECE >= len(fact) else b"+"
            signature = sign(mark + piece, key=key, digest_size=16).hexdigest()
            line = encode(signature, "ascii") + mark + piece + b"\n"
            while line:
                line = line[write(descriptor, line) :]
            key = sign(b"next", key=key, digest_size=32).digest()

    return say
