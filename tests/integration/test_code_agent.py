"""The code agent with real sessions and a real terminal; only the model's mind is a script."""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.code_agent.agent import LIMITS, CodeAgent
from milepost.agents.models.model import Answer, Conversation, Prompt
from milepost.core.attempt import Assignment, Outcome, Signal, Workspace
from milepost.core.calls import Call, Reply, Usage
from milepost.core.commands import Command, CommandResult, ExecutionLimits, Line, TrustLevel
from milepost.core.errors import MachineFailed
from milepost.core.ports import Logbook, Terminal, Tools, Unrecorded
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.levels import open_executor, open_terminal

ASSIGNMENT = Assignment(run="r1", task="1.1", title="Write notes", text="", attempt=1)
END = "final_answer('Done.')"


class ScriptedModel:
    """Answers with the next piece of code; which one that is, the question's number tells."""

    name = "scripted"
    price_known = True

    def __init__(self, *pieces: str) -> None:
        self._pieces = pieces
        self.conversations: list[Conversation] = []

    def most(self, conversation: Conversation) -> Usage:
        return Usage(input_tokens=9, output_tokens=9, cost_usd=0.9)

    def answer(self, conversation: Conversation) -> Answer:
        self.conversations.append(conversation)
        piece = self._pieces[conversation.number - 1]
        return Answer(text=f"I go on.\n```python\n{piece}\n```", usage=Usage(input_tokens=10, output_tokens=1))

    def told(self, number: int) -> str:
        """The last message of a question."""
        last = self.conversations[number - 1].messages[-1]
        assert isinstance(last, Prompt)
        return last.text


class Killed(BaseException):
    pass


class PaperLogbook:
    """Keeps calls as JSON, and is killed right after it kept so many."""

    session = ""

    def __init__(self, lives_for: int = 1000) -> None:
        self.calls: list[Call] = []
        self.kept: list[str] = []
        self.lives_for = lives_for
        self._given = 0

    def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
        if self._given < len(self.kept):
            stored = json.loads(self.kept[self._given])
            assert stored["request"] == [call.kind, call.name, call.request]
            self._given += 1
            return Reply(body=stored["body"], usage=Usage(**stored["usage"]), failed=stored["failed"])
        reply = make()
        usage = {name: getattr(reply.usage, name) for name in Usage.__slots__}
        request = [call.kind, call.name, call.request]
        self.kept.append(json.dumps({"request": request, "body": reply.body, "usage": usage, "failed": reply.failed}))
        self.calls.append(call)
        self._given += 1
        if len(self.kept) == self.lives_for:
            raise Killed
        return reply

    def again(self) -> PaperLogbook:
        self._given, self.lives_for = 0, 1000
        return self

    def note_session(self, session: str) -> None:
        raise AssertionError("the agent has no session of its own")


class Stand:
    """A workspace, and what an agent needs to work in it."""

    def __init__(self, place: Path, terminal: Terminal, level: TrustLevel) -> None:
        self.folder = place / "work"
        self.folder.mkdir()
        self._place = place
        self.terminal = terminal
        self.level = level
        self.opened = 0
        self.said: list[str] = []
        self.signals: list[Signal] = []

    def open_interpreter(self, folder: Path, limits: ExecutionLimits) -> WalledExecutor:
        self.opened += 1
        return open_executor(self.level, limits, workspace=folder, direct=True)

    def act(
        self,
        model: ScriptedModel,
        *,
        limits: ExecutionLimits = LIMITS,
        logbook: Logbook | None = None,
        timeout_s: float = 60,
        refused: str = "",
        judge: Callable[[Sequence[str]], str] | None = None,
        stops: Any = None,
        redact: Callable[[str], str] = str,
        window_tokens: int = 100_000,
    ) -> Outcome:
        agent = CodeAgent(
            model,
            limits=limits,
            stops=stops,
            window_tokens=window_tokens,
        )
        workspace = Workspace(folder=self.folder, scratch=self._place / "scratch", base="0" * 40)
        tools = Tools(
            terminal=self.terminal,
            say=self.said.append,
            timeout_s=timeout_s,
            logbook=logbook or Unrecorded(),
            redact=redact,
            open_interpreter=self.open_interpreter,
            judge=judge or (lambda argv: f"no {argv[0]} here" if argv[0] == refused else ""),
            signal=self.signals.append,
        )
        return agent.act(ASSIGNMENT, workspace, tools)


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with open_terminal(TrustLevel.ISOLATED) as opened:
        yield opened


@pytest.fixture
def stand(tmp_path: Path, terminal: Terminal) -> Stand:
    return Stand(tmp_path, terminal, TrustLevel.ISOLATED)


@pytest.mark.parametrize("level", [TrustLevel.ISOLATED, TrustLevel.SANDBOXED], ids=str)
def test_it_makes_and_edits_files_runs_commands_and_ends_with_its_answer(tmp_path: Path, level: TrustLevel) -> None:
    with open_terminal(level) as terminal:
        stand = Stand(tmp_path, terminal, level)
        model = ScriptedModel(
            "write_file('src/app.py', 'x = 1\\r\\nprint(x)\\r\\n')\nnames = glob('*.py') + ls()",
            "edit_file('src/app.py', 'x = 1\\nprint', 'x = 2\\nprint')\nprint(names, grep('x = ', include='*.py'))",
            f"done = execute([{sys.executable!r}, 'src/app.py'])\nprint(done)",
            "final_answer({'files': names}, verified_by='a run of it')",
        )
        outcome = stand.act(model)
    assert (outcome.status, outcome.said) == (
        "finished",
        '{"files": ["src/app.py", "src/"]}\nverified, by its own word, by: a run of it',
    )
    assert outcome.usage == Usage(input_tokens=40, output_tokens=4)
    assert (stand.folder / "src/app.py").read_bytes() == b"x = 2\r\nprint(x)\r\n"
    assert "['src/app.py', 'src/'] ['src/app.py:1:x = 2" in model.told(3)
    assert "{'exit_code': 0, 'stdout': '2\\n', 'stderr': '', 'ended': 'exit 0'}" in model.told(4)
    assert {"seccomp", "wall-clock"} < set(outcome.enforced)
    assert f"running {sys.executable} src/app.py" in stand.said
    assert stand.opened == 1


def test_what_leads_out_of_the_workspace_is_refused(stand: Stand) -> None:
    outside = stand.folder.parent / "outside.txt"
    outside.write_text("theirs")
    (stand.folder / "link").symlink_to(outside.parent)
    tries = ["write_file('../outside.txt', 'x')", "write_file('link/outside.txt', 'x')", "delete('link/outside.txt')",
             f"open({str(outside)!r}, 'w')", "write_file('.git/hooks/x', 'x')", "delete('../outside.txt')"]  # fmt: skip
    model = ScriptedModel(*tries, END)
    assert stand.act(model).status == "finished"
    for number in range(2, len(tries) + 2):
        assert "PermissionError" in model.told(number), model.told(number)
    assert outside.read_text() == "theirs"


def test_a_command_that_is_refused_is_not_run_and_the_code_is_told_why(stand: Stand) -> None:
    model = ScriptedModel("execute(['touch', 'made'])", "execute(3)", "execute(['ls', '\\0'])", END)
    stand.act(model, refused="touch")
    assert "PermissionError: this command is not allowed: no touch here (line 1)" in model.told(2)
    assert "- `execute(command: str | list[str], timeout_s: float | None = None) -> dict[str, Any]`" in model.told(2)
    assert "a command is a text such as" in model.told(3) and "NUL" in model.told(4)
    assert not list(stand.folder.iterdir()) and "refused: touch made" in stand.said


def test_a_judge_who_must_ask_a_person_first_leaves_the_step_to_the_next_life_of_the_attempt(stand: Stand) -> None:
    answers: list[str] = []

    def judge(argv: Sequence[str]) -> str:
        if not answers:
            raise Killed
        return answers[0]

    book = PaperLogbook()
    model = ScriptedModel("try: execute(['touch', 'made'])\nexcept PermissionError as no: print(no)", END)
    with pytest.raises(Killed):
        stand.act(model, judge=judge, logbook=book)
    answers.append("not on a Friday")
    assert stand.act(model, judge=judge, logbook=book.again()).status == "finished"
    assert len(book.kept) == 4 and "this command is not allowed: not on a Friday" in model.told(2)


def test_notes_and_signals_reach_the_next_questions_and_those_who_listen(stand: Stand) -> None:
    model = ScriptedModel(
        "store('plan', [1, 2]); observe('two  tests\\nfail'); fail('regex', 'too slow'); uncertain('is it A?')",
        "explore('B')\ncommit('C')\nprint(recall('plan'), 1 / 0)",
        "recall('nothing')",
        END,
    )
    assert stand.act(model).status == "finished"
    assert "- plan = [1, 2]" in model.told(2) and "- two tests fail" in model.told(2)
    assert "- regex: too slow" in model.told(3) and "- committed to: C" in model.told(3)
    assert "Scratchpad" not in str(model.conversations[2].messages[:-1])  # only as it is now
    assert "nothing is stored as 'nothing'" in model.told(4)
    assert [(one.kind, one.text) for one in stand.signals] == [
        ("uncertain", "is it A?"),
        ("explore", "B"),
        ("commit", "C"),
    ]


def test_an_answer_is_of_its_own_step_and_two_are_an_error(stand: Stand) -> None:
    model = ScriptedModel(
        "final_answer('first')\n1 / 0",
        "x = 1",
        "final_answer('a')\nfinal_answer('b')",
        "final_answer('last')",
    )
    assert stand.act(model).said == "last"
    assert "ZeroDivisionError" in model.told(2) and "ran to its end" in model.told(3)
    assert "final_answer was called twice in one run" in model.told(4)


def test_who_gives_up_has_given_up_whatever_else_it_says(stand: Stand) -> None:
    outcome = stand.act(ScriptedModel("give_up('the spec is missing')\nfinal_answer('All done.')"))
    assert (outcome.status, outcome.said) == ("gave_up", "the spec is missing")


def test_it_is_stopped_after_the_steps_it_has(stand: Stand) -> None:
    model = ScriptedModel(*["1"] * 9)
    outcome = stand.act(model, limits=ExecutionLimits(steps=3))
    assert (outcome.status, outcome.said) == ("gave_up", "stopped after 3 steps without a final answer")
    assert len(model.conversations) == 3


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("while True: pass", "ran longer than 8 s"),
        ("rows = b'x' * 2_000_000_000", "MemoryError"),
        ("import os; os._exit(0)", "the code ended its own process with exit code 0"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
        ("import os; os.closerange(3, 100)", "the code ended its own process"),
    ],
)
def test_a_step_that_goes_too_far_fails_and_the_next_one_has_the_variables_again(
    stand: Stand, code: str, error: str
) -> None:
    begin = "import json\nkept = {'a': [1]}\ndef double(x): return 2 * x\nlazy = (x for x in kept)"
    model = ScriptedModel(begin, code, "print(json.dumps(kept), double(4))", END)
    limits = ExecutionLimits(timeout_s=8, memory_mb=300, steps=10)
    assert stand.act(model, limits=limits).status == "finished"
    assert error in model.told(3)
    assert '{"a": [1]} 8' in model.told(4)
    ended = "The session is over" in model.told(3)
    assert ended or error == "MemoryError"
    assert ("lazy" in model.told(4)) == ended


@pytest.mark.parametrize(
    "code",
    [
        "import sys; del sys.modules['milepost_variables'], sys.modules['walls.guest']",
        "import sys; sys.modules['milepost_variables'].keeper.step = lambda code: {'error': None, 'is_final': True}",
        "import sys\nlie = {'put': {'kept': 'no pickle'}, 'gone': [], 'names': ['kept']}\n"
        "sys.modules['milepost_variables'].keeper.changes = lambda: lie",
        "import builtins; builtins.exec = builtins.compile = None",
        "class Trap:\n    def __reduce__(self):\n        while True: pass\ntrap = Trap()",
        "final_answer('x' * 3_000_000)",
        "import json; json.dumps = lambda *a, **k: '{}'",
    ],
)
def test_code_that_takes_its_session_apart_harms_itself_and_nobody_else(stand: Stand, code: str) -> None:
    model = ScriptedModel("kept = 1", code, "print('on')", "import os; os._exit(1)", "print('and on')", END)
    outcome = stand.act(model, limits=ExecutionLimits(timeout_s=8, steps=6))
    assert outcome.status in ("finished", "gave_up") and "Traceback" not in outcome.said
    assert "and on" in model.told(6)


def test_the_time_of_the_attempt_bounds_its_steps_and_their_commands(stand: Stand) -> None:
    model = ScriptedModel("import time\nexecute(['sleep', '60'])\ntime.sleep(60)", END)
    outcome = stand.act(model, timeout_s=5)
    assert (outcome.status, outcome.said) == ("timed_out", "not finished after 5 s")
    assert len(model.conversations) == 1


def test_output_has_a_bound_and_secrets_are_taken_out_of_all_that_the_model_is_told(stand: Stand) -> None:
    model = ScriptedModel(
        "print('x' * 100_000, 'hunter2')\nobserve('it is hunter2'); store('key', 'hunter2')",
        "secret = 'hunter' + str(2)\nprint(execute(['echo', secret])['stdout'])\nraise ValueError(secret)",
        "final_answer('hunter2', verified_by='hunter2')",
    )
    outcome = stand.act(model, redact=lambda text: text.replace("hunter2", "***"))
    assert len(model.told(2)) < 25_000
    assert "hunter2" not in str([each.text for each in model.conversations[-1].messages if isinstance(each, Prompt)])
    assert outcome.said == "***\nverified, by its own word, by: ***"


def test_who_has_to_leave_at_once_leaves_nothing_running(stand: Stand) -> None:
    os.mkfifo(stand.folder / "begun")
    begun = os.open(stand.folder / "begun", os.O_RDWR | os.O_NONBLOCK)
    guests: list[int] = []

    class Leaving:
        def pause(self, seconds: float) -> None:
            raise AssertionError

        def check(self) -> None:
            with contextlib.suppress(BlockingIOError):
                guests.append(os.pidfd_open(int(os.read(begun, 100))))
                raise Killed

    code = "import os, time\nwith open('begun', 'w') as told: told.write(str(os.getpid()))\ntime.sleep(60)"
    with pytest.raises(Killed):
        stand.act(ScriptedModel(code), stops=Leaving())
    gone = select.poll()
    gone.register(guests[0], select.POLLIN)
    assert gone.poll(60_000)


def test_a_machine_that_fails_under_a_command_is_not_an_error_of_the_codes(stand: Stand) -> None:
    class Broken:
        def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
            raise MachineFailed("the disk is full")

    stand.terminal = Broken()
    with pytest.raises(MachineFailed):
        stand.act(ScriptedModel("try: execute(['ls'])\nexcept BaseException: pass", END))


def test_a_long_conversation_fits_into_the_window_and_keeps_its_beginning_and_its_end(stand: Stand) -> None:
    model = ScriptedModel(*[f"print('{number}:' + 'y' * 2000)" for number in range(1, 20)], END)
    assert stand.act(model, window_tokens=12_000).status == "finished"
    last = model.conversations[-1].messages
    assert sum(isinstance(message, Answer) for message in last) < 15
    assert isinstance(last[0], Prompt) and "# Task 1.1" in last[0].text
    assert "19:yyy" in model.told(20)
    assert any(isinstance(message, Prompt) and "Step 7 ran to its end" in message.text for message in last)


COUNT = "with open('steps', 'a') as told: told.write('{}')\n"
WORK = (
    COUNT.format(1) + "import json\nrows = [1, 2]\ndef total(): return sum(rows)\nstore('k', 'v'); uncertain('x')",
    COUNT.format(2) + "rows.append(total())\nexecute(['touch', 'made'])\nprint(rows)",
    COUNT.format(3) + "print(json.dumps(rows), total(), recall('k'))\n1 / 0",
    COUNT.format(4) + "class Row:\n    n = 5\nrow = Row()\nrow.n = total()",
    COUNT.format(5) + "final_answer([row.n, rows])",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, terminal: Terminal) -> tuple[Outcome, ScriptedModel]:
    stand = Stand(tmp_path_factory.mktemp("whole"), terminal, TrustLevel.ISOLATED)
    model = ScriptedModel(*WORK)
    return stand.act(model), model


@pytest.mark.parametrize("lives_for", range(1, 11))
def test_an_attempt_cut_short_after_any_call_ends_as_if_it_was_not_and_runs_no_step_again(
    lives_for: int, stand: Stand, whole: tuple[Outcome, ScriptedModel]
) -> None:
    model, book = ScriptedModel(*WORK), PaperLogbook(lives_for)
    with pytest.raises(Killed):
        stand.act(model, logbook=book)
    resumed = stand.act(model, logbook=book.again())

    outcome, uncut = whole
    assert resumed == outcome and resumed.said == "[6, [1, 2, 3]]"
    assert [each.messages for each in model.conversations] == [each.messages for each in uncut.conversations]
    assert len(book.kept) == 10
    assert [(call.kind, call.name, call.changes) for call in book.calls[:2]] == [
        ("model", "scripted", False),
        ("tool", "python", True),
    ]
    assert (stand.folder / "steps").read_text() == "12345"


def test_names_that_a_crash_took_are_told_before_code_that_uses_them_is_run(stand: Stand) -> None:
    made = COUNT.format(1) + "lazy = (x for x in 'ab')\nkept = 5"
    model = ScriptedModel(made, COUNT.format(2) + "print(next(lazy))", "lazy = iter('ab')", "print(kept)", END)
    book = PaperLogbook(2)
    with pytest.raises(Killed):
        stand.act(model, logbook=book)
    assert stand.act(model, logbook=book.again()).status == "finished"
    assert "Step 2 was not run" in model.told(3) and "\nlazy\n" in model.told(3)
    assert "ran to its end" in model.told(4) and "\n5\n" in model.told(5)
    assert (stand.folder / "steps").read_text() == "1"


def test_what_was_kept_is_read_by_no_process_but_the_session(stand: Stand) -> None:
    bomb = f"""
class Bomb:
    def __reduce__(self):
        return exec, ("import os; open('who', 'a').write(str(os.getpid() == {os.getpid()}) + '\\\\n')",)
bomb = Bomb()
"""
    model = ScriptedModel(bomb, "print('on')", END)
    book = PaperLogbook(2)
    with pytest.raises(Killed):
        stand.act(model, logbook=book)
    assert not (stand.folder / "who").exists()
    assert stand.act(model, logbook=book.again()).status == "finished"
    assert set((stand.folder / "who").read_text().split()) == {"False"}


def test_a_session_that_dies_between_two_steps_costs_no_step(stand: Stand) -> None:
    model = ScriptedModel("kept = 6", "print(kept * 7)", END)
    executors: list[WalledExecutor] = []
    opened = stand.open_interpreter

    def noting(folder: Path, limits: ExecutionLimits) -> WalledExecutor:
        executors.append(opened(folder, limits))
        return executors[-1]

    class Killing(PaperLogbook):
        def once(self, call: Call, make: Callable[[], Reply]) -> Reply:
            reply = super().once(call, make)
            if call.kind == "tool" and len(self.kept) == 2:
                executors[-1].kill()
            return reply

    stand.open_interpreter = noting  # type: ignore[method-assign]
    assert stand.act(model, logbook=Killing()).status == "finished"
    assert "42" in model.told(3)
