"""Commands that look into what proves who somebody is: keys, tokens, what was typed; or that send such things."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import options_of

SENDING = frozenset(
    ("curl", "wget", "http", "https", "xh", "nc", "ncat", "netcat", "socat", "telnet", "scp", "rsync", "sftp", "ftp")
) | {"ssh", "aws", "gsutil", "rclone", "mail", "sendmail"}

_HOME = r"(?:~\w*|\$\{?HOME\}?|/home/[^/]+|/root|/Users/[^/]+)"
_KEPT = (
    r"\.(?:ssh|aws|azure|gnupg|kube|password-store|config/(?:gcloud|gh|op|hub|doctl)|local/share/keyrings)(?:/.*)?"
    r"|\.(?:netrc|npmrc|pypirc|pgpass|my\.cnf|git-credentials|vault-token|yarnrc\.yml|boto|s3cfg)"
    r"|\.(?:docker/config\.json|cargo/credentials(?:\.toml)?|gem/credentials|m2/settings\.xml)"
    r"|\.(?:\w+_history|lesshst|viminfo)"
)
_CREDENTIALS = re.compile(rf"@?(?:{_HOME}/(?:{_KEPT})|/etc/(?:g?shadow|sudoers)\S*|/proc/[^/]+/environ)/?$")
_PRIVATE = re.compile(
    r"(?:^|[=@/:])(?:\.env(?:\.(?!example|sample|template|dist)\w+)?|\.npmrc|\.netrc|id_(?:rsa|ed25519|ecdsa))$"
)
_READ_INSIDE = re.compile(
    r"\$\(\s*(?:cat|base64|head|tail|<)\s[^)]*?(?P<path>[^\s)]+)\s*\)|\$\(\s*(?P<all>env|printenv)\s*\)"
)
_NO_PATHS = frozenset({"echo", "printf", "git", "touch", "mkdir", "test", "[", "which", "type", "alias", "gh"})
_PATTERN_FIRST = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "gawk", "jq"})
_LISTS_VARIABLES = frozenset({"env", "printenv", "set", "export", "declare"})


def reading(piece: Piece) -> str | None:
    """Files of credentials outside of the workspace, and what a person typed."""
    if piece.name == "history":
        return "reads or changes the shell history"
    if any(_CREDENTIALS.match(path) for path in _paths(piece)):
        return "reads or changes credentials"
    return None


def sending(piece: Piece) -> str | None:
    """Private files of the workspace, or all variables, given to a program that sends them away."""
    if piece.name not in SENDING:
        return None
    if any(_PRIVATE.search(word) or _reads_inside(word) for word in piece.arguments):
        return "sends private data"
    source = piece.fed_by
    while source is not None:
        bare = not options_of(source.arguments).rest
        if (source.name in _LISTS_VARIABLES and bare) or any(_PRIVATE.search(path) for path in _paths(source)):
            return "sends private data"
        source = source.fed_by
    return None


def _paths(piece: Piece) -> Iterator[str]:
    """The words that may be paths: not what is only printed, and not what is searched for."""
    if piece.name in _NO_PATHS:
        return
    words = piece.arguments
    skipped = next((word for word in words if not word.startswith("-")), None) if piece.name in _PATTERN_FIRST else None
    for word in (*words, *piece.writes):
        if word is skipped:
            skipped = None
            continue
        path = word.rpartition("=")[2]
        yield posixpath.join(piece.cwd, path) if piece.cwd else path


def _reads_inside(word: str) -> bool:
    found = _READ_INSIDE.search(word)
    return found is not None and (found["all"] is not None or _PRIVATE.search(found["path"]) is not None)
