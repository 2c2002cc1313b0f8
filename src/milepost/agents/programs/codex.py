"""Codex: how it is started without a person at it, and what its stream of JSON lines says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from milepost.agents.programs.driver import (
    Capabilities,
    Invocation,
    Job,
    Note,
    ProgramEnded,
    ProgramSetup,
    SessionNamed,
    Spoke,
    Stepped,
    Used,
)
from milepost.agents.programs.lines import JsonLines, count, inside, objects, words
from milepost.agents.programs.service_errors import trouble_of
from milepost.core.calls import Usage
from milepost.core.commands import Line
from milepost.sources.parse_documents import toml_of

HOME = ".codex"
RETRIES = 2  # it is the engine that waits
STREAM_SILENT_S = 240  # shorter than a program may be silent, so that it tells of it
PROVIDER = "milepost"
OWN_ADDRESS = "https://api.openai.com/v1"
AT_HOME = ("AGENTS.md", "AGENTS.override.md", "prompts", "rules", "skills")
USERS_OWN = ("model", "model_reasoning_effort", "model_reasoning_summary", "model_verbosity", "personality")
KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")

# What a request costs is told at the end only. Until then it is reckoned from what is printed, as if what was asked
# before is read from a cache.
TOKENS_AT_FIRST = 12_000
TOKENS_A_STEP = 100
CHARACTERS_PER_TOKEN = 4
LONGEST_OUTPUT = 40_000  # of a command, that its model is shown

_STEPS = ("command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call")


class Codex:
    """The driver of Codex. It runs without walls of its own, which cannot stand inside of ours."""

    name = "codex"
    program = "codex"

    def capabilities(self) -> Capabilities:
        return Capabilities(
            hosts=("api.openai.com", "chatgpt.com", "auth.openai.com"),
            keys=KEYS,
            ends_itself=True,
            sessions=True,
            turn_limit=False,
            usd_limit=False,
            counts_tokens=True,
            counts_usd=False,
            login=f"{HOME}/auth.json",
            provider="openai",
            at_home=tuple(
                f"{HOME}/{name}" for name in ("AGENTS.md", "AGENTS.override.md", "prompts", "rules", "skills")
            ),
            in_project=("AGENTS.md", "AGENTS.override.md", HOME, ".agents"),
            can_be_clean=True,
            settings=(f"{HOME}/config.toml",),
        )

    def version_argv(self, program: str) -> tuple[str, ...]:
        return (program, "--version")

    def invocation(self, program: str, job: Job, setup: ProgramSetup) -> Invocation:
        going_on = ("resume", job.session) if job.session else ()
        argv = (program, "exec", *going_on, "--json", "--skip-git-repo-check", *setup.args, "-")
        key = next((name for name in KEYS if setup.env.get(name)), "")
        return Invocation(
            argv=argv,
            env={"CODEX_HOME": str(job.home / HOME)},
            stdin=job.prompt,
            files={f"{HOME}/config.toml": config(setup, key, job.users.get(f"{HOME}/config.toml", ""))},
        )

    def reader(self) -> CodexReader:
        return CodexReader()


def config(setup: ProgramSetup, key: str, users: str = "") -> str:
    """Its config.toml. A provider of our own, since only such a one can be told how often to try again.

    With an account, and no address set, it is left to the one that it has. Of the user's it takes which model is asked,
    and how.
    """
    ours = bool(key or setup.base_url)
    own = {} if setup.clean else _users(users)
    model = setup.model or own.pop("model", "")
    lines = [
        *([f"model = {_text(model)}"] if model else []),
        *(f"{name} = {_text(value)}" for name, value in own.items() if name != "model"),
        *(["project_doc_max_bytes = 0"] if setup.clean else []),
        *([f"model_provider = {_text(PROVIDER)}"] if ours else []),
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        "allow_login_shell = false",
        "check_for_update_on_startup = false",
        "[shell_environment_policy]",
        "ignore_default_excludes = false",
        "[analytics]",
        "enabled = false",
        "[features]",
        "plugins = false",
        "unbounded_connection_retries = false",
    ]
    if ours:
        lines += [
            f"[model_providers.{PROVIDER}]",
            f"name = {_text(PROVIDER)}",
            f"base_url = {_text(setup.base_url or OWN_ADDRESS)}",
            *([f"env_key = {_text(key)}"] if key else []),
            'wire_api = "responses"',
            f"request_max_retries = {RETRIES}",
            f"stream_max_retries = {RETRIES}",
            f"stream_idle_timeout_ms = {STREAM_SILENT_S}000",
        ]
    return "\n".join(lines) + "\n"


def _users(text: str) -> dict[str, str]:
    """What a user's config.toml says of the model, and of how it is asked."""
    settings = toml_of(text) or {}
    found = {name: settings.get(name) for name in USERS_OWN}
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


class CodexReader:
    """Reads the lines of `codex exec --json`; types that are not known tell nothing."""

    def __init__(self) -> None:
        self._lines = JsonLines()
        self._seen: set[str] = set()
        self._context = TOKENS_AT_FIRST
        self._asked = Usage(input_tokens=TOKENS_AT_FIRST)

    def read(self, line: Line) -> tuple[Note, ...]:
        told = self._lines.read(line.text) if line.stream == "stdout" else None
        return tuple(self._notes(told)) if isinstance(told, Mapping) else ()

    def _notes(self, told: Mapping[str, Any]) -> Iterator[Note]:
        match words(told.get("type")):
            case "thread.started":
                if name := words(told.get("thread_id")):
                    yield SessionNamed(name)
            case "item.started" | "item.updated" | "item.completed" as event:
                yield from self._item(inside(told, "item"), completed=event == "item.completed")
            case "error":
                yield trouble_of(words(told.get("message")))
            case "turn.failed":
                said = words(inside(told, "error").get("message"))
                yield trouble_of(said)
                yield ProgramEnded(False, said)
            case "turn.completed":
                yield Used(usage_of(inside(told, "usage")), cumulative=frozenset({"tokens"}))
                yield ProgramEnded(True)

    def _item(self, item: Mapping[str, Any], *, completed: bool) -> Iterator[Note]:
        kind, name = words(item.get("type")), words(item.get("id"))
        if kind == "agent_message" and completed:
            yield Spoke(words(item.get("text")))
        if kind not in _STEPS:
            return
        if name not in self._seen:
            self._seen.add(name)
            yield Stepped(_step(kind, item))
        if completed:
            yield Used(self._reckoned(item))

    def _reckoned(self, item: Mapping[str, Any]) -> Usage:
        """What was taken so far, with one more question after this step."""
        printed = min(len(words(item.get("aggregated_output"))), LONGEST_OUTPUT)
        written = TOKENS_A_STEP + len(words(item.get("command"))) // CHARACTERS_PER_TOKEN
        before, self._context = self._context, self._context + written + printed // CHARACTERS_PER_TOKEN
        self._asked += Usage(input_tokens=self._context, cached_tokens=before, output_tokens=written)
        return self._asked


def usage_of(told: Mapping[str, Any]) -> Usage:
    """Tokens as OpenAI counts them: what is read from a cache is in the input."""
    return Usage(
        input_tokens=count(told.get("input_tokens")),
        output_tokens=count(told.get("output_tokens")),
        cached_tokens=count(told.get("cached_input_tokens")),
    )


def _step(kind: str, item: Mapping[str, Any]) -> str:
    match kind:
        case "command_execution":
            return words(item.get("command"))
        case "file_change":
            changes = objects(item.get("changes"))
            return ", ".join(f"{words(each.get('kind'))} {words(each.get('path'))}" for each in changes)
        case _:
            named = (words(item.get(name)) for name in ("query", "server", "tool"))
            return " ".join((kind, *(one for one in named if one)))


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
