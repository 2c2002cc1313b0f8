"""What a piece without danger does: nothing but look, change the workspace, or reach out over the network."""

from __future__ import annotations

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import GIT_OPTIONS, options_of
from milepost.sandbox.command_risk.secrets import SENDING
from milepost.sandbox.policy.decision import Kind

_NAMES = (
    "ls cat head tail less more wc file stat du df pwd echo printf true false : test [ [[ which type command whoami id "
    "date uname hostname env printenv grep egrep fgrep rg ag ack fd fdfind tree diff cmp comm sort uniq cut tr nl "
    "basename dirname realpath readlink md5sum sha1sum sha256sum cksum jq yq column fold rev tac seq sleep expr ps "
    "pgrep top free uptime nproc lscpu man help cd pushd popd export set unset local declare return exit wait shift "
    "read alias xxd hexdump od strings cloc tokei"
)
_LOOKING = frozenset(_NAMES.split())
_REACHING = (
    SENDING
    | frozenset(
        (
            "ping",
            "dig",
            "nslookup",
            "host",
            "traceroute",
            "mosh",
            "lynx",
            "aria2c",
            "yt-dlp",
            "gh",
            "glab",
            "gcloud",
            "az",
        )
    )
    | {"kubectl", "helm", "heroku", "fly", "flyctl", "vercel", "netlify", "twine", "npx", "uvx", "bunx"}
)
_INSTALLERS = frozenset(
    ("pip", "pip3", "pipx", "uv", "poetry", "pdm", "npm", "pnpm", "yarn", "bun", "gem", "bundle")
) | {*("cargo", "go", "composer", "brew", "apt", "apt-get", "apk", "dnf", "yum", "conda", "mamba", "docker", "podman")}
_FETCHING = frozenset(
    ("install", "i", "ci", "add", "download", "update", "upgrade", "sync", "get", "fetch", "pull", "push", "lock")
) | {"search", "login", "publish", "dlx", "audit", "outdated"}
_GIT_REACHING = frozenset({"clone", "fetch", "pull", "push", "ls-remote", "submodule", "send-email"})
_GIT_LOOKING = frozenset(
    ("status", "log", "diff", "show", "blame", "grep", "ls-files", "ls-tree", "rev-parse", "rev-list", "describe")
) | {"cat-file", "shortlog", "reflog", "merge-base", "name-rev", "for-each-ref", "check-ignore", "version", "help"}


def effect_of(piece: Piece) -> Kind:
    """What a piece does; `writes` for a program that is not known to do less."""
    if piece.writes:
        return "writes"
    if not piece.words:
        return "safe"
    if piece.name == "git":
        return _of_git(piece)
    if piece.name in _REACHING:
        return "network"
    if piece.name in _INSTALLERS and _fetches(options_of(piece.arguments).rest):
        return "network"
    if piece.name == "find":
        return "writes" if "-delete" in piece.arguments else "safe"
    only_asks = piece.arguments in (("--version",), ("--help",), ("-V",), ("-h",), ("version",))
    return "safe" if piece.name in _LOOKING or only_asks else "writes"


def _fetches(words: tuple[str, ...]) -> bool:
    if words[:1] in (("pip",), ("compose",), ("mod",)):  # as in `uv pip install`
        words = words[1:]
    return not _FETCHING.isdisjoint(words[:1])


def _of_git(piece: Piece) -> Kind:
    verb = "".join(options_of(piece.arguments, GIT_OPTIONS, leading=True).rest[:1])
    if verb in _GIT_REACHING:
        return "network"
    return "safe" if verb in _GIT_LOOKING or not verb else "writes"
