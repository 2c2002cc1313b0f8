"""The sections [verify] and [repair]: what is checked, and what is done about a failure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from milepost.engine.project.settings.reach import AGENT_NAMES, SAFE, Asks, is_below
from milepost.engine.project.settings.section import SettingsSection


class VerifySettings(SettingsSection):
    python: Annotated[str, Asks("runs tests with this interpreter")] = Field(
        "",
        description="Python interpreter for the project's tests. Empty: its .venv or venv, else $VIRTUAL_ENV, else "
        "python3 on PATH; never one in which git tracks a file.",
    )
    build: Annotated[list[str], Asks("builds these packages from source, which runs their code")] = Field(
        [],
        description="Python packages that an attempt may add and that are then built from source, which runs their "
        "code; `all` for every one, and for archives that lie in the repository, with your settings and a network. "
        "Empty: what an attempt adds is installed from wheels alone.",
    )
    level: Annotated[Literal["files", "syntax", "imports", "runtime", "tests", "types"], SAFE] = Field(
        "tests", description="How far the checks go. Each level includes the ones before it."
    )
    mode: Annotated[Literal["auto", "pytest", "agent", "skip"], SAFE] = Field(
        "auto",
        description="auto: every check that applies. pytest: only the project's tests, with pytest. agent: auto, plus "
        "a review by an agent, which can reject a change but not accept one. skip: run nothing, so nothing can pass.",
    )
    agent: Annotated[str, AGENT_NAMES] = Field("", description="The reviewer for mode agent, by any agent name.")
    environment: Annotated[Literal["auto", "own", "off"], SAFE] = Field(
        "auto",
        description="The environment for the project's commands. auto: its own, or one created from its lock files. "
        "own: only an existing one. off: the plain interpreter.",
    )
    runners: Annotated[list[str], SAFE] = Field(
        [], description="Test runners to use. Empty: detected from the project's files."
    )
    reruns: Annotated[int, SAFE] = Field(
        2, ge=0, le=10, description="How often a newly failing test is rerun before the failure counts."
    )
    changed_tests: Annotated[Literal["ask", "accept", "refuse"], SAFE] = Field(
        "ask",
        description="What becomes of work that changed what an existing test expects. ask: it is held until you "
        "answer. accept: it passes, and the proof says so. refuse: it fails.",
    )
    own_tests: Annotated[Literal["accept", "ask", "refuse"], SAFE] = Field(
        "accept",
        description="What becomes of work that only its own new tests prove. accept: a Verify line that runs them is "
        "enough, if they are strong. ask: it is held until you answer. refuse: it fails.",
    )
    lint: Annotated[bool, SAFE] = Field(False, description="Whether findings of the project's linter fail a task.")
    checks: Annotated[list[Literal["vulnerabilities"]], SAFE] = Field(
        [],
        description="Checks to run in addition. vulnerabilities: requirements and package-lock.json that a task "
        "changes bring no package with a known vulnerability, by pip-audit and npm audit. They need the network "
        "([sandbox] network); without an answer the check claims nothing.",
    )
    most_files: Annotated[int, SAFE] = Field(
        0, ge=0, description="Maximum number of files a task may change. 0: no limit."
    )
    largest_bytes: Annotated[int, SAFE] = Field(
        0, ge=0, description="Maximum size in bytes of a file that a task leaves behind. 0: no limit."
    )
    coverage: Annotated[float | None, SAFE] = Field(
        None, ge=0, le=1, description="Share of the changed lines that tests must cover. Absent: not required."
    )
    hidden: Annotated[str, Asks("copies this folder into the checkouts in which tests run", unless=is_below)] = Field(
        "",
        description="Folder with hidden tests for `Verify hidden:` lines, laid into the checkout only while they run. "
        "Must not be in git. Relative to the roadmap, or anywhere else. Empty: none.",
    )
    tester: Annotated[str, AGENT_NAMES] = Field(
        "",
        description="Agent that writes tests from the task's text before another agent works on it, by any agent name. "
        "Empty: none.",
    )
    tester_always: Annotated[bool, SAFE] = Field(
        False, description="Whether the tester also writes tests for tasks whose `Verify:` line fails before the work."
    )
    keep_independent: Annotated[bool, SAFE] = Field(
        False, description="Whether the tester's tests are committed with the task's work."
    )


class RepairSettings(SettingsSection):
    mode: Annotated[Literal["no-adapt", "suggest", "auto-fix"], SAFE] = Field(
        "auto-fix",
        description="auto-fix: repair and try again. suggest: end the task with a proposal. no-adapt: one attempt "
        "only.",
    )
    recipes: Annotated[bool, SAFE] = Field(
        True, description="Whether failures that can be fixed without an agent are fixed that way first."
    )
    packages: Annotated[list[str], Asks("installs these packages when a task needs them")] = Field(
        [], description="Packages that may be added to the project, in addition to those it already knows."
    )
    fallback: Annotated[list[str], AGENT_NAMES] = Field(
        [], description="Agents to continue with, in this order, when one makes no progress."
    )
