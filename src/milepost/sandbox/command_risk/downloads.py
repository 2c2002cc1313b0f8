"""A file that is downloaded and then run by the same command."""

from __future__ import annotations

import posixpath

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import options_of
from milepost.sandbox.command_risk.wrappers import SHELLS

_RUNNING = SHELLS | {"python", "python3", "node", "perl", "ruby", "php", "source", "."}
_CURL_TAKING = frozenset({"-o", "--output", "-H", "--header", "-d", "--data", "-X", "--request", "-u", "-A", "-e"})
_WGET_TAKING = frozenset({"-O", "--output-document", "-P", "-o", "--header", "-U"})


class Downloads:
    """The files that the pieces of one text download, as far as they were looked at."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._downloading = False

    def run_by(self, piece: Piece) -> str | None:
        """Why a piece does harm that runs one of them; a piece that downloads is noted."""
        if piece.writes and self._downloading:
            self._files |= {posixpath.normpath(path) for path in piece.writes}
        self._downloading = piece.name in ("curl", "wget")
        if self._downloading:
            self._files |= _saved_by(piece)
            return None
        first = next((word for word in piece.arguments if not word.startswith("-")), "")
        started = {piece.words[0] if piece.words and "/" in piece.words[0] else ""}
        started |= {first} if piece.name in _RUNNING else set()
        names = {posixpath.normpath(path) for path in started if path}
        return None if self._files.isdisjoint(names) else "runs what it downloads"


def _saved_by(piece: Piece) -> set[str]:
    curl = piece.name == "curl"
    options = options_of(piece.arguments, _CURL_TAKING if curl else _WGET_TAKING)
    named = options.value("-o", "--output") if curl else options.value("-O", "--output-document")
    after_address = not named and (not curl or options.has("-O", "--remote-name"))
    from_addresses = {word.partition("?")[0].rpartition("/")[2] for word in options.rest if after_address}
    return {posixpath.normpath(path) for path in (*named, *from_addresses) if path and path != "-"}
