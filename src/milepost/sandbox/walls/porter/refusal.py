"""Why the porter did not do what it was asked, in the words that go into a result."""

from __future__ import annotations

import os


class SyscallRefused(OSError):
    """A call that is not done: `words` say what it was, and the errno is what the kernel would have said.

    Bytes of a path that are no text are written out.
    """

    def __init__(self, error: int, words: str) -> None:
        super().__init__(error, words)
        self.words = os.fsencode(words).decode(errors="backslashreplace")
