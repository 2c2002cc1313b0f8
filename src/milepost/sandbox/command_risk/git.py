"""Git commands that lose commits, branches or work that nobody committed."""

from __future__ import annotations

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import GIT_OPTIONS, Options, options_of
from milepost.sandbox.command_risk.paths import place_of

_ALWAYS = {
    "filter-branch": "rewrites the whole history",
    "filter-repo": "rewrites the whole history",
}


def losing(piece: Piece) -> str | None:
    """What a git command would lose, in words."""
    rest = options_of(piece.arguments, GIT_OPTIONS, leading=True).rest
    if not rest:
        return None
    verb, words = rest[0], rest[1:]
    options = options_of(words, frozenset({"-m", "-b", "-e", "--exclude", "-s", "--source", "-o", "--push-option"}))
    match verb:
        case "push":
            return _push(options)
        case "reset" if options.has("--hard", "--merge"):
            return "discards uncommitted work"
        case "clean" if options.has("-f", "--force") and not options.has("-n", "--dry-run"):
            return "deletes untracked files"
        case "branch" if options.has("-d", "-D", "--delete"):
            return "deletes a branch"
        case "tag" if options.has("-d", "--delete"):
            return "deletes a tag"
        case "checkout" | "switch" if options.has("-f", "--force", "--discard-changes"):
            return "discards uncommitted work"
        case "checkout" | "restore" if _all_of_it(verb, words, options, piece):
            return "discards uncommitted work"
        case "rm" if any(place_of(path, piece) == "whole" for path in options.rest) and not options.has("--cached"):
            return "deletes every tracked file"
        case _:
            return _ALWAYS.get(verb) or _of_store(verb, options)


def _push(options: Options) -> str | None:
    if options.has("-n", "--dry-run"):
        return None
    forced = options.has("-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror")
    if forced or any(name.startswith("+") for name in options.rest):
        return "overwrites what others have pushed"
    gone = options.has("-d", "--delete", "--prune") or any(name.startswith(":") for name in options.rest[1:])
    return "deletes a branch or a tag of the remote" if gone else None


def _all_of_it(verb: str, words: tuple[str, ...], options: Options, piece: Piece) -> bool:
    if verb == "restore" and options.has("--staged", "-S") and not options.has("--worktree", "-W"):
        return False
    return any(place_of(path, piece) == "whole" for path in options.rest if path in (".", "*", ":/") or "/" in path)


def _of_store(verb: str, options: Options) -> str | None:
    match verb, options.rest[:1]:
        case "stash", ("drop",) | ("clear",):
            return "discards stashed work"
        case "reflog", ("expire",) | ("delete",):
            return "deletes reflog entries, the way back to lost commits"
        case "update-ref", _ if options.has("-d", "--delete"):
            return "deletes a ref"
        case "gc" | "prune", _ if verb == "prune" or ("--prune", "now") in options.values:
            return "deletes unreachable commits"
        case "worktree", ("remove",) if options.has("-f", "--force"):
            return "deletes a worktree with its work"
        case _:
            return None
