"""Claude Code: how it is started without a person at it, and what its stream of JSON lines says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from milepost.agents.programs.claude_servers import SERVERS_OF_PROJECT, SERVERS_OF_USER, ClaudeServers, servers_of
from milepost.agents.programs.driver import (
    Capabilities,
    Invocation,
    Job,
    Note,
    Notice,
    ProgramEnded,
    ProgramSetup,
    SessionNamed,
    Spoke,
    Stepped,
    Troubled,
    Turned,
    Used,
)
from milepost.agents.programs.lines import JsonLines, amount, count, inside, objects, words
from milepost.agents.programs.service_errors import trouble_of
from milepost.core.calls import Usage
from milepost.core.commands import Line
from milepost.sources.parse_documents import json_of, table

CONFIG = ".claude"
RETRIES = 2  # it is the engine that waits
ANSWER_S = 240  # for an answer to begin: shorter than a program may be silent, so that it tells of it
SMALLEST_USD = 0.01
CHARACTERS_PER_TOKEN = 4
TOOLS = "Bash,Read,Edit,Write,Glob,Grep,NotebookEdit,TodoWrite,Task"
SETTINGS = f"{CONFIG}/of-milepost.json"
SERVERS = f"{CONFIG}/servers-of-user.json"
AT_HOME = ("CLAUDE.md", "settings.json", "rules", "skills", "agents", "commands", "hooks", "output-styles", "plugins")
OWN_ADDRESS = "https://api.anthropic.com"
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
OF_PROJECT = (f"{CONFIG}/settings.json", f"{CONFIG}/settings.local.json")
# Whom it asks and with whose key: that is for the user to say. A repository's settings that say it are not taken.
_WHOM = re.compile(r"ANTHROPIC_.*(KEY|TOKEN|URL|HEADERS)|CLAUDE_CODE_(USE_.*|OAUTH.*)|AWS_.*|.*_PROXY", re.IGNORECASE)
SWITCHES = {
    "API_TIMEOUT_MS": f"{ANSWER_S}000",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": f"{RETRIES}",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}
_STATUS_OF_ERROR = {
    "rate_limit": 429,
    "overloaded": 529,
    "server_error": 500,
    "authentication_failed": 401,
    "billing_error": 402,
    "invalid_request": 400,
    "model_not_found": 404,
}
_ENDS = {
    "error_max_turns": "it reached its limit of turns",
    "error_max_budget_usd": "it reached its limit in USD",
    "error_during_execution": "it was interrupted",
}
_SYNTHETIC = "<synthetic>"


class Claude:
    """The driver of Claude Code. It may use the tools of an allow-list and asks nobody for more."""

    name = "claude"
    program = "claude"

    def capabilities(self) -> Capabilities:
        return Capabilities(
            hosts=("api.anthropic.com", "console.anthropic.com", "platform.claude.com"),
            keys=KEYS,
            ends_itself=True,
            sessions=True,
            turn_limit=True,
            usd_limit=True,
            counts_tokens=True,
            counts_usd=True,
            login=f"{CONFIG}/.credentials.json",
            provider="anthropic",
            at_home=tuple(f"{CONFIG}/{name}" for name in AT_HOME),
            in_project=("CLAUDE.md", "CLAUDE.local.md", CONFIG, SERVERS_OF_PROJECT),
            can_be_clean=True,
            settings=(SERVERS_OF_PROJECT, SERVERS_OF_USER, *OF_PROJECT),
        )

    def version_argv(self, program: str) -> tuple[str, ...]:
        return (program, "--version")

    def invocation(self, program: str, job: Job, setup: ProgramSetup) -> Invocation:
        bounds = {"--max-turns": setup.max_turns, "--max-budget-usd": _usd(setup.max_usd)}
        options = {"--model": setup.model, "--resume": job.session, **bounds}
        servers = ClaudeServers() if setup.clean else _servers(job, setup)
        tools = TOOLS if setup.clean else ",".join((TOOLS, "Skill", *servers.tools))
        argv = (
            *(program, "-p", "--output-format", "stream-json", "--verbose"),
            *("--permission-mode", "dontAsk", "--allowedTools", tools),
            *(("--setting-sources", "", "--strict-mcp-config") if setup.clean else _sources(job, servers)),
            *(word for option, value in options.items() if value for word in (option, str(value))),
            *setup.args,
        )
        address = {"ANTHROPIC_BASE_URL": setup.base_url} if setup.base_url else {}
        env = {**SWITCHES, **address, "CLAUDE_CONFIG_DIR": str(job.home / CONFIG)}
        return Invocation(
            argv=argv,
            env=env,
            stdin=job.prompt,
            files={} if setup.clean else _files(setup, servers),
            given=() if setup.clean else (*servers.given, *_refused(job)),
        )

    def reader(self) -> ClaudeReader:
        return ClaudeReader()


def _servers(job: Job, setup: ProgramSetup) -> ClaudeServers:
    of_project, of_user = job.projects.get(SERVERS_OF_PROJECT, ""), job.users.get(SERVERS_OF_USER, "")
    return servers_of(of_project, of_user, folder=setup.project, named=setup.servers)


def _sources(job: Job, servers: ClaudeServers) -> tuple[str, ...]:
    """Its own settings, the user's and the repository's, with ours over them."""
    users = ("--mcp-config", str(job.home / SERVERS)) if servers.users else ()
    sources = ("--setting-sources", "user") if _saying_whom(job) else ()
    return ("--settings", str(job.home / SETTINGS), *sources, *users)


def _refused(job: Job) -> tuple[str, ...]:
    said = ", ".join(_saying_whom(job))
    return (f"not given: settings and CLAUDE.md of the repository, which set {said}",) if said else ()


def _saying_whom(job: Job) -> tuple[str, ...]:
    """What the repository's settings say of whom it asks, and with whose key."""
    tables = [json_of(job.projects.get(name, "")) for name in OF_PROJECT]
    variables = (name for settings in tables for name in table(settings.get("env")) if _WHOM.fullmatch(name))
    helpers = (name for settings in tables for name in settings if name == "apiKeyHelper")
    return tuple(dict.fromkeys((*variables, *helpers)))


def _files(setup: ProgramSetup, servers: ClaudeServers) -> dict[str, str]:
    """Our settings: whom it asks, how patient it is, and no sandbox of its own, which cannot stand inside of ours."""
    address = setup.base_url or setup.env.get("ANTHROPIC_BASE_URL") or OWN_ADDRESS
    env = {**SWITCHES, "ANTHROPIC_BASE_URL": address}
    users = {SERVERS: json.dumps({"mcpServers": servers.users})} if servers.users else {}
    return {SETTINGS: json.dumps({"env": env, "sandbox": {"enabled": False}}), **users}


class ClaudeReader:
    """Reads the lines of `--output-format stream-json`; types that are not known tell nothing."""

    def __init__(self) -> None:
        self._lines = JsonLines()
        self._asked: dict[str, Usage] = {}
        self._said = ""
        self._tool = ""
        self._error = ""
        self._wait_s: float | None = None

    def read(self, line: Line) -> tuple[Note, ...]:
        told = self._lines.read(line.text) if line.stream == "stdout" else None
        return tuple(self._notes(told)) if isinstance(told, Mapping) else ()

    def _notes(self, told: Mapping[str, Any]) -> Iterator[Note]:
        match words(told.get("type")), words(told.get("subtype")):
            case "system", "init":
                if name := words(told.get("session_id")):
                    yield SessionNamed(name)
                for server in objects(told.get("mcp_servers")):
                    if (standing := words(server.get("status"))) not in ("connected", "pending"):
                        yield Notice(f"its MCP server {words(server.get('name'))} is not there: {standing}")
            case "system", "api_retry":
                yield self._retry(told)
            case "system", "permission_denied":
                yield Troubled("denied", f"the tool {words(told.get('tool_name'))} was not permitted")
            case "assistant", _:
                yield from self._answer(told)
            case "result", subtype:
                yield from self._end(told, subtype)

    def _retry(self, told: Mapping[str, Any]) -> Note:
        status, error = count(told.get("error_status")) or None, words(told.get("error"))
        self._wait_s = amount(told.get("retry_delay_ms")) / 1000 if status == 429 else None
        what = f"its service answered {status} ({error})" if status else "its service does not answer"
        return trouble_of(what, status=status or 500, wait_s=self._wait_s)

    def _answer(self, told: Mapping[str, Any]) -> Iterator[Note]:
        message = inside(told, "message")
        parts = objects(message.get("content"))
        if message.get("model") == _SYNTHETIC:  # the program's own words about what went wrong
            self._error = words(told.get("error"))
            return
        yield from self._usage(message, parts)
        for part in parts:
            if part.get("type") == "text" and words(part.get("text")).strip():
                self._said = words(part.get("text"))
                yield Spoke(self._said)
            elif part.get("type") == "tool_use":
                self._tool = words(part.get("id"))
                yield Stepped(_step(words(part.get("name")), inside(part, "input")))

    def _usage(self, message: Mapping[str, Any], parts: tuple[Mapping[str, Any], ...]) -> Iterator[Note]:
        """What was taken so far: of an answer only its beginning is told, so its length is reckoned."""
        name, usage = words(message.get("id")), usage_of(inside(message, "usage"))
        known = self._asked.get(name)
        written = (known.output_tokens if known else 0) + sum(len(str(part)) for part in parts) // CHARACTERS_PER_TOKEN
        self._asked[name] = replace(usage, output_tokens=max(usage.output_tokens, written))
        yield Used(sum(self._asked.values(), Usage()), model=words(message.get("model")))
        if known is None:
            yield Turned(len(self._asked))

    def _end(self, told: Mapping[str, Any], subtype: str) -> Iterator[Note]:
        usage = usage_of(inside(told, "usage"))
        if not usage.input_tokens:  # it does not count an answer that broke off
            usage = sum(self._asked.values(), Usage())
        usage = replace(usage, cost_usd=amount(told.get("total_cost_usd")))
        # It would count the runs before, too, had it been able to write them down: but one that was cut short was not.
        yield Used(usage, cost_known=True)
        denied = {words(each.get("tool_use_id")): each for each in objects(told.get("permission_denials"))}
        if self._tool in denied:
            yield Troubled("denied", f"the tool {words(denied[self._tool].get('tool_name'))} was not permitted")
        fine = subtype == "success" and told.get("is_error") is False
        said = words(told.get("result"))
        if fine and said and said != self._said:
            yield Spoke(said)
        if not fine and subtype == "success":
            status = count(told.get("api_error_status")) or _STATUS_OF_ERROR.get(self._error)
            yield trouble_of(said or "its service did not answer", status=status, wait_s=self._wait_s)
        yield ProgramEnded(fine, "" if fine else said or _errors(told) or _ENDS.get(subtype, subtype))


def usage_of(told: Mapping[str, Any]) -> Usage:
    """Tokens as Anthropic counts them: what is read from a cache or written to it is not in the input."""
    read = count(told.get("cache_read_input_tokens"))
    written = count(told.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=count(told.get("input_tokens")) + read + written,
        output_tokens=count(told.get("output_tokens")),
        cached_tokens=read,
    )


def _errors(told: Mapping[str, Any]) -> str:
    errors = told.get("errors")
    return "; ".join(map(words, errors)) if isinstance(errors, list) else ""


def _step(tool: str, given: Mapping[str, Any]) -> str:
    """What a tool is used for, by what a person would look at first."""
    named = (words(given.get(name)) for name in ("command", "file_path", "notebook_path", "pattern", "description"))
    about = next((one for one in named if one), "")
    return f"{tool} {about}".strip()


def _usd(most: float | None) -> str:
    return "" if most is None else f"{max(most, SMALLEST_USD):.4f}"
