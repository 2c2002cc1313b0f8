"""A small assembler for the programs that seccomp runs: judgements on system calls in, bytes of classic BPF out.

Only the lower half of an argument is compared unless a condition says otherwise; the kernel itself reads no more of the
flags, modes, families and process numbers that are judged this way.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

ALLOW, ASK, KILL = 0x7FFF0000, 0x7FC00000, 0x80000000

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _JUMP_IF_ANY_BIT = 0x15, 0x35, 0x45
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16
_ALL_BITS = 0xFFFFFFFF

_Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What the bits of an argument within `mask` must be for a case to apply."""

    argument: int
    how: Literal["is", "is not", "has any of"]
    value: int
    mask: int = _ALL_BITS
    upper_half: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A verdict for calls that meet all conditions."""

    conditions: tuple[Condition, ...]
    verdict: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SyscallRule:
    """What becomes of some calls: the first case that applies decides, else `otherwise`."""

    calls: tuple[str, ...]
    cases: tuple[Case, ...] = ()
    otherwise: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What a program must know of a kind of processor.

    `first_foreign` is where another convention of calls begins that this one does not judge; `first_unknown` where
    calls begin that nobody here has heard of.
    """

    code: int
    numbers: Mapping[str, int]
    first_foreign: int | None
    first_unknown: int
    for_unknown: int


def refuse(error: int) -> int:
    """The verdict that lets a call fail with this errno."""
    return 0x00050000 | error


def assemble(judgements: Iterable[SyscallRule], machine: Machine) -> bytes:
    """The program that judges each call by the first judgement that names it, and allows what none does."""
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_JUMP_IF_EQUAL, 1, 0, machine.code),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if machine.first_foreign is not None:
        code += [(_JUMP_IF_AT_LEAST, 0, 1, machine.first_foreign), (_RETURN, 0, 0, KILL)]
    code += [(_JUMP_IF_AT_LEAST, 0, 1, machine.first_unknown), (_RETURN, 0, 0, machine.for_unknown)]
    for judgement in judgements:
        code += _one(judgement, machine.numbers)
    code.append((_RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _one(judgement: SyscallRule, numbers: Mapping[str, int]) -> list[_Instruction]:
    """Code that returns for the calls of a judgement and falls through, the number still loaded, for all others."""
    wanted = [numbers[name] for name in judgement.calls if name in numbers]
    if not wanted:
        return []
    body = [instruction for case in judgement.cases for instruction in _case(case)]
    body.append((_RETURN, 0, 0, judgement.otherwise))
    last = len(wanted) - 1
    matches = [
        (_JUMP_IF_EQUAL, last - position, len(body) if position == last else 0, number)
        for position, number in enumerate(wanted)
    ]
    return [*matches, *body]


def _case(case: Case) -> list[_Instruction]:
    """Code that returns the verdict of a case and falls through when a condition is not met."""
    code: list[_Instruction] = [(_RETURN, 0, 0, case.verdict)]
    for condition in reversed(case.conditions):
        past = len(code)
        jump = _JUMP_IF_ANY_BIT if condition.how == "has any of" else _JUMP_IF_EQUAL
        when_true, when_false = (past, 0) if condition.how == "is not" else (0, past)
        code.insert(0, (jump, when_true, when_false, condition.value))
        if condition.mask != _ALL_BITS:
            code.insert(0, (_AND, 0, 0, condition.mask))
        code.insert(0, (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * condition.argument + (4 if condition.upper_half else 0)))
    return code
