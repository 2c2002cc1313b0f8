"""Surroundings of its own for each attempt and each verification: a slot with ports, and variables that tell of it.

A slot, and a block of ports, is held by a name on this machine that nobody else can have at the same time, whichever
engine or user asks. The kernel gives it back when the process ends, however that happens.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from milepost.core.commands import Command, CommandResult, Line
from milepost.core.errors import MachineFailed
from milepost.core.ports import Terminal
from milepost.engine.project.env_templates import PORTS, Slot, Templates, _values, filled

FIRST_PORT = 20_000
MOST_BLOCKS = 1_200  # up to port 31999: from 32768 on the kernel gives ports to whoever connects
MOST_SLOTS = 1_000


def variables(slot: Slot, templates: Templates) -> dict[str, str]:
    """The variables that commands find in a slot."""
    ports = {f"MILEPOST_PORT_{number}": str(port) for number, port in enumerate(slot.ports)}
    own = {"MILEPOST_SLOT": str(slot.number), "PORT": str(slot.ports[0]), **ports}
    values = _values(slot)
    if templates.database_name:
        values["database_name"] = filled(templates.database_name, values)
        own["MILEPOST_DATABASE_NAME"] = values["database_name"]
    return {**own, **{name: filled(template, values) for name, template in templates.env.items()}}


class AttemptSlots:
    """Hands out slots to threads, as many at once as are asked for. `space` is whom they are shared with."""

    def __init__(self, templates: Templates, space: str = "milepost") -> None:
        self._templates = templates
        self._space = space

    @contextmanager
    def slot(self) -> Iterator[dict[str, str]]:
        """The variables of a slot that nobody else has until it is left."""
        with ExitStack() as held:
            yield variables(self._taken(held), self._templates)

    @contextmanager
    def terminal(self, terminal: Terminal) -> Iterator[Terminal]:
        """A terminal whose commands run in a slot of their own."""
        with self.slot() as env:
            yield SlotTerminal(terminal=terminal, env=env)

    def _taken(self, held: ExitStack) -> Slot:
        number = next((one for one in range(MOST_SLOTS) if self._claim(f"slot/{one}", held)), None)
        if number is None:
            raise MachineFailed(
                "no slot is free for an attempt", "stop other runs on this machine, then: milepost resume"
            )
        for step in range(MOST_BLOCKS):
            first = FIRST_PORT + (number + step) % MOST_BLOCKS * PORTS
            block = ExitStack()
            if self._claim(f"ports/{first}", block) and all(map(is_free, range(first, first + PORTS))):
                held.push(block.pop_all())
                return Slot(number=number, ports=tuple(range(first, first + PORTS)))
            block.close()
        raise MachineFailed(f"no {PORTS} ports in a row are free for an attempt", "see who listens: ss -ltn")

    def _claim(self, name: str, held: ExitStack) -> bool:
        """Have a name to ourselves until `held` is left, unless somebody has it."""
        sign = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            sign.bind(f"\0{self._space}/{name}")
        except OSError as problem:
            sign.close()
            if problem.errno == errno.EADDRINUSE:
                return False
            raise MachineFailed(
                f"could not reserve a slot: {problem.strerror}", "fix that, then: milepost resume"
            ) from problem
        held.callback(sign.close)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotTerminal:
    """Adds the variables of a slot to every command; what a command brings itself goes over them."""

    terminal: Terminal
    env: Mapping[str, str]

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        return self.terminal.run(replace(command, env={**self.env, **command.env}), on_line)


def is_free(port: int) -> bool:
    """Whether a server could listen on a port now, also one that does not wait for old connections to be forgotten."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            trial = socket.socket(family, socket.SOCK_STREAM)
        except OSError:  # a machine without IPv6
            continue
        with trial:
            try:
                if family == socket.AF_INET6:
                    trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                trial.bind(("", port))
            except OSError as problem:
                if problem.errno != errno.EADDRNOTAVAIL:
                    return False
    return True
