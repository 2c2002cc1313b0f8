"""What an attempt changed, file by file, as git has it: never as the agent tells it."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST_READ = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One path that differs: its bytes before and after, None where it is not there.

    A link has its target as its bytes, and `mode` "120000". The bytes of a file larger than
    LARGEST_READ are left out: it is there, empty, and `unread`.
    """

    path: str
    before: bytes | None
    after: bytes | None
    mode: str = "100644"
    unread: bool = False

    @property
    def text_before(self) -> str:
        return (self.before or b"").decode("utf-8", errors="replace")

    @property
    def text_after(self) -> str:
        return (self.after or b"").decode("utf-8", errors="replace")

    @property
    def is_new(self) -> bool:
        return self.before is None

    @property
    def is_gone(self) -> bool:
        return self.after is None

    @property
    def is_link(self) -> bool:
        return self.mode == "120000"


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedFile:
    """A changed file as it may be kept, and the `places` where it had credentials, none of which is shown."""

    path: str
    content: bytes
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """All that differs between a base and a candidate's tree, the ticked roadmap left out."""

    files: tuple[ChangedFile, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)

    def file(self, path: str) -> ChangedFile | None:
        return next((file for file in self.files if file.path == path), None)
