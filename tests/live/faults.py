"""What agents do when the service of their model fails, and what Milepost makes of it, as a table in the docs.

python -m tests.live.faults          writes docs/agent-faults.md; all programs must be installed
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milepost.core.commands import Command, CommandResult, Line, ending_in_words
from milepost.core.ports import Terminal
from milepost.sandbox.terminal import WalledTerminal
from tests.live.installed import PROGRAMS, absence, found
from tests.live.stage import Stage

AGENTS = ("tool", "code", *PROGRAMS)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "agent-faults.md"
AT_ONCE = 4
IDLE_S = {"aider": 40.0}  # it takes its time to begin
USUAL_IDLE_S = 8.0
TURNS = 3
LONGEST = 160
DONE: Mapping[str, Any] = {"do": [{"finish": "All done."}]}
WORK: tuple[Mapping[str, Any], ...] = (
    {"text": "I write it.", "do": [{"create": "created.py", "content": "new = 1\n"}]},
    *[DONE] * TURNS,
)
WAIT = re.compile(r"limit reached: try again in (.+)$")
RATE = {"kind": "status", "status": 429, "times": None}

FAULTS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "429 twice, then ok": [{**RATE, "headers": {"Retry-After": "1"}, "times": 2}],
    "429 always, with a time to wait": [{**RATE, "headers": {"Retry-After": "600"}}],
    "500 always": [{"kind": "status", "status": 500, "times": None}],
    "500 after the work": [{"kind": "status", "status": 500, "answer": 2, "times": None}],
    "401": [{"kind": "status", "status": 401, "times": None}],
    "hang before headers": [{"kind": "hang", "seconds": 120, "times": None}],
    "stall mid-stream": [{"kind": "stall", "seconds": 120, "times": None}],
    "hangs up at once": [{"kind": "drop", "times": None}],
    "invalid JSON": [{"kind": "garbage", "times": None}],
    "JSON that is no answer": [{"kind": "invalid", "times": None}],
    "empty answer": [{"kind": "empty", "times": None}],
    "truncated": [{"kind": "tear", "times": None}],
    "cut off at its longest": [{"kind": "cut", "times": None}],
    "never finishes": [{"kind": "endless", "times": None}],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One agent at one fault. `finished` is the agent's word after Milepost judged it; `worked`, whether it is true."""

    agent: str
    fault: str
    did: str
    status: str
    said: str
    worked: bool
    wait: str = ""

    @property
    def false_done(self) -> bool:
        return self.status == "finished" and not self.worked


@dataclass
class Overheard:
    """A terminal that remembers how its commands ended."""

    terminal: Terminal
    endings: list[str] = field(default_factory=list)

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        try:
            result = self.terminal.run(command, on_line)
        except BaseException:
            self.endings.append("ended by Milepost")
            raise
        program = Path(command.argv[0]).name
        self.endings.append(ending_in_words(result, program=program, timeout_s=command.timeout_s))
        return result


def trial(agent: str, fault: str, folder: Path, terminal: Terminal) -> Row:
    """What comes of one attempt by this agent while its service has this fault."""
    stage = Stage(agent, found(agent) if agent in PROGRAMS else None, folder)
    heard = Overheard(terminal)
    with stage.model(*WORK, faults=FAULTS[fault]) as server:
        doer = stage.agent(server, max_turns=TURNS)
        outcome = stage.act(doer, heard, timeout_s=120, idle_timeout_s=IDLE_S.get(agent, USUAL_IDLE_S))
        asked = len(server.questions)
    if left := stage.left_running():
        raise AssertionError(f"{agent} left something running: {left}")
    ending = ", ".join(heard.endings)
    return Row(
        agent=agent,
        fault=fault,
        did="; ".join(part for part in (_times(asked), ending) if part),
        status=outcome.status,
        said=_short(outcome.said, stage.folder),
        worked=stage.files().get("created.py") == "new = 1\n",
        wait=again[1] if (again := WAIT.search(outcome.said)) else "",
    )


def rows_of(agent: str, folder: Path) -> list[Row]:
    """What comes of all faults with one agent, in their order; some at a time, since most of it is waiting."""
    with WalledTerminal() as terminal, ThreadPoolExecutor(AT_ONCE) as pool:
        tried = [
            pool.submit(trial, agent, fault, folder / str(number), terminal) for number, fault in enumerate(FAULTS)
        ]
        return [one.result() for one in tried]


def page(rows: Sequence[Row]) -> str:
    """The rows as a page of the docs."""
    lines = [
        "# When a model's service fails",
        "",
        "What each agent does while the service of its model has a fault, and what Milepost makes of it. This page is",
        "written by `python -m tests.live.faults`, from the real programs with a scripted model; every row is held by",
        "`tests/integration/test_live_programs.py`. The work is to write one file. No row ends as done without it.",
        "",
        "`limited` waits and tries again without counting the attempt, `gave_up` and `timed_out` count as failed.",
        f"An agent that says nothing for some seconds is ended here, and one that has taken {TURNS} turns.",
    ]
    for agent in dict.fromkeys(row.agent for row in rows):
        lines += ["", f"## {agent}", "", "| fault | it | Milepost | its words | the work |", "|---|---|---|---|---|"]
        lines += [_line(row) for row in rows if row.agent == agent]
    return "\n".join(lines) + "\n"


def main() -> int:
    absent = [absence(name) for name in PROGRAMS if found(name) is None]
    if absent:
        sys.stderr.write("\n".join(absent) + "\n")
        return 1
    rows: list[Row] = []
    for agent in AGENTS:
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            rows += rows_of(agent, Path(folder))
    PAGE.write_text(page(rows), encoding="utf-8")
    false = [row for row in rows if row.false_done]
    sys.stdout.write(f"{len(rows)} rows in {PAGE.name}, {len(false)} of them done and not done\n")
    return 1 if false else 0


def _line(row: Row) -> str:
    there = "is there" if row.worked else "is not there"
    made = f"`{row.status}`, again in {row.wait}" if row.wait else f"`{row.status}`"
    return f"| {row.fault} | {row.did} | {made} | {row.said} | {there} |"


def _times(asked: int) -> str:
    return "asked once" if asked == 1 else f"asked {asked} times"


def _short(said: str, folder: Path) -> str:
    """What was said in one line, without how long to wait, and without what is different each time."""
    line = " / ".join(line.strip() for line in WAIT.sub("", said).splitlines() if line.strip())
    line = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", line.replace(str(folder), "…")).replace("|", "\\|")
    line = line.replace("`", "'").replace("<", "&lt;")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


if __name__ == "__main__":
    sys.exit(main())
