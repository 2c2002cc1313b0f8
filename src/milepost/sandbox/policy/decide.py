"""A command → the decision about it, piece by piece: the strictest word holds.

What takes more rights, changes the machine or looks into credentials is refused, other dangers are asked about, and
the rest is allowed. The lists of a project go over that. They make a danger milder only where they name it: `git push
--force` in a list is about forcing, `git push` is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from milepost.sandbox.command_risk import Danger, Judged, judged
from milepost.sandbox.command_risk.command import is_text, shown
from milepost.sandbox.command_risk.containers import given_the_machine
from milepost.sandbox.command_risk.files import of_the_machine
from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.packages import from_elsewhere
from milepost.sandbox.command_risk.wrappers import SHELLS
from milepost.sandbox.policy.decision import STRICTER, WORSE, Decision, Kind, Verdict
from milepost.sandbox.policy.effects import effect_of
from milepost.sandbox.policy.rule import Clause

ShellRule = Literal["never", "read", "any"]

_REFUSED = frozenset({"privileges", "secrets"})
_REASONS: Mapping[Verdict, str] = {
    "deny": "must not be run here",
    "ask": "needs approval here",
    "allow": "is allowed here",
}
_BUILT_IN = frozenset(("cd", "pushd", "popd", "echo", "printf", "true", "false", ":", "test", "[", "[[", "export")) | {
    *("set", "unset", "local", "declare", "return", "exit", "wait", "shift", "read", "alias", "trap", "eval", "exec")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The lists of a project; `unlisted` is for programs that none of them names and that are not dangerous.

    A text for a shell is refused with `shell` at `never`; at `read` a person is asked where the text does not tell
    beforehand which programs it runs.
    """

    allow: tuple[Clause, ...] = ()
    ask: tuple[Clause, ...] = ()
    deny: tuple[Clause, ...] = ()
    unlisted: Verdict = "allow"
    shell: ShellRule = "read"


def decide(policy: Policy, argv: Sequence[str], inside: Sequence[str] = ()) -> Decision:
    """What a policy says to a command that runs at the top of a workspace; `inside` as for `danger_of`."""
    return _decided(policy, tuple(argv), tuple(inside))


@lru_cache(maxsize=2048)
def _decided(policy: Policy, argv: tuple[str, ...], inside: tuple[str, ...]) -> Decision:
    pieces = tuple(judged(argv, inside))
    words = [_of_piece(policy, one) for one in pieces]
    words += [word for one in pieces if (word := _of_shell(policy, one, is_text(argv))) is not None]
    strictest = max(words, key=lambda word: STRICTER.index(word.verdict), default=_NOTHING)
    return replace(strictest, kind=max((word.kind for word in words), key=WORSE.index, default="safe"))


_NOTHING = Decision(verdict="allow", kind="safe", reason="runs nothing", rule="default")


def _of_piece(policy: Policy, one: Judged) -> Decision:
    """The word on one piece: that of the lists, but where it is milder than a danger that they do not name."""
    listed, dangerous = _of_lists(policy, one.piece), _of_danger(one)
    if listed is None:
        return dangerous or _otherwise(policy, one)
    clause, word = listed
    if dangerous is None:
        return word
    milder = STRICTER.index(word.verdict) < STRICTER.index(dangerous.verdict)
    named = dangerous.reason in _dangers_named_by(clause)
    return dangerous if milder and not named else replace(word, kind=dangerous.kind)


def _of_lists(policy: Policy, piece: Piece) -> tuple[Clause, Decision] | None:
    """The first clause that a piece meets, in the strictest list, and its word."""
    lists: tuple[tuple[Verdict, tuple[Clause, ...]], ...] = (
        ("deny", policy.deny),
        ("ask", policy.ask),
        ("allow", policy.allow),
    )
    for verdict, clauses in lists:
        for clause in clauses:
            if clause.matches(piece):
                return clause, Decision(
                    verdict=verdict,
                    kind=effect_of(piece),
                    reason=_REASONS[verdict],
                    rule=f"[terminal] {verdict} {clause.text}",
                    what=shown(piece),
                )
    return None


@lru_cache
def _dangers_named_by(clause: Clause) -> frozenset[str]:
    """Why a clause would be dangerous, were it a command."""
    return frozenset(one.danger.why for one in judged(clause.as_command) if one.danger is not None)


def _of_danger(one: Judged) -> Decision | None:
    danger = one.danger
    if danger is None:
        return None
    refused = danger.kind in _REFUSED or of_the_machine(one.piece) or given_the_machine(one.piece) is not None
    return Decision(
        verdict="deny" if refused else "ask",
        kind=_kind_of(danger, one.piece, refused),
        reason=danger.why,
        rule=f"danger {danger.kind}",
        what=danger.what,
    )


def _kind_of(danger: Danger, piece: Piece, refused: bool) -> Kind:
    if danger.kind in _REFUSED or (danger.kind == "containers" and refused):
        return "privileged"
    return "network" if danger.kind == "packages" and from_elsewhere(piece) else "destructive"


def _otherwise(policy: Policy, one: Judged) -> Decision:
    """What holds for a piece that nothing names; one that only starts others is told by them."""
    piece = one.piece
    kind: Kind = "safe" if one.wraps else effect_of(piece)
    if policy.unlisted == "allow" or one.wraps or not piece.words or piece.name in _BUILT_IN:
        return Decision(verdict="allow", kind=kind, reason="is not known to do harm", rule="default", what=shown(piece))
    rule = f"[terminal] unlisted {policy.unlisted}"
    return Decision(verdict=policy.unlisted, kind=kind, reason="is not in any list", rule=rule, what=shown(piece))


def _of_shell(policy: Policy, one: Judged, text: bool) -> Decision | None:
    """What is said to a text for a shell, wherever in a command it stands."""
    piece, rule = one.piece, f"shell {policy.shell}"
    if policy.shell == "never" and (text or (piece.name in SHELLS and one.wraps)):
        reason = "is text for a shell, and only a program with its arguments may run"
        return Decision(verdict="deny", kind="writes", reason=reason, rule=rule, what=shown(piece))
    if policy.shell == "read" and piece.name.startswith(("$", "`")):
        reason = "runs a program whose name is not known in advance"
        return Decision(verdict="ask", kind="writes", reason=reason, rule=rule, what=shown(piece))
    return None
