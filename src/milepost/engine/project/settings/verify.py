"""The sections [verify] and [repair]: what is checked, and what is done about a failure."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from milepost.engine.project.settings.section import SettingsSection


class VerifySettings(SettingsSection):
    python: str = Field(
        "",
        description="Python interpreter for the project's tests. Empty: its .venv or venv, else $VIRTUAL_ENV, else "
        "python3 on PATH.",
    )
    level: Literal["files", "syntax", "imports", "runtime", "tests", "types"] = Field(
        "tests", description="How far the checks go. Each level includes the ones before it."
    )
    mode: Literal["auto", "pytest", "agent", "skip"] = Field(
        "auto",
        description="auto: every check that applies. pytest: only the project's tests, with pytest. agent: auto, plus "
        "a review by an agent, which can reject a change but not accept one. skip: run nothing, so nothing can pass.",
    )
    agent: str = Field("", description="The reviewer for mode agent, by any agent name.")
    environment: Literal["auto", "own", "off"] = Field(
        "auto",
        description="The environment for the project's commands. auto: its own, or one created from its lock files. "
        "own: only an existing one. off: the plain interpreter.",
    )
    runners: list[str] = Field([], description="Test runners to use. Empty: detected from the project's files.")
    reruns: int = Field(
        2, ge=0, le=10, description="How often a newly failing test is rerun before the failure counts."
    )
    changed_tests: Literal["ask", "accept", "refuse"] = Field(
        "ask",
        description="What becomes of work that changed what an existing test expects. ask: it is held until you "
        "answer. accept: it passes, and the proof says so. refuse: it fails.",
    )
    own_tests: Literal["accept", "ask", "refuse"] = Field(
        "accept",
        description="What becomes of work that only its own new tests prove. accept: a Verify line that runs them is "
        "enough, if they are strong. ask: it is held until you answer. refuse: it fails.",
    )
    lint: bool = Field(False, description="Whether findings of the project's linter fail a task.")
    most_files: int = Field(0, ge=0, description="Maximum number of files a task may change. 0: no limit.")
    largest_bytes: int = Field(
        0, ge=0, description="Maximum size in bytes of a file that a task leaves behind. 0: no limit."
    )
    coverage: float | None = Field(
        None, ge=0, le=1, description="Share of the changed lines that tests must cover. Absent: not required."
    )
    hidden: str = Field(
        "",
        description="Folder with hidden tests for `Verify hidden:` lines, laid into the checkout only while they run. "
        "Must not be in git. Relative to the roadmap, or anywhere else. Empty: none.",
    )
    tester: str = Field(
        "",
        description="Agent that writes tests from the task's text before another agent works on it, by any agent name. "
        "Empty: none.",
    )
    tester_always: bool = Field(
        False, description="Whether the tester also writes tests for tasks whose `Verify:` line fails before the work."
    )
    keep_independent: bool = Field(False, description="Whether the tester's tests are committed with the task's work.")


class RepairSettings(SettingsSection):
    mode: Literal["no-adapt", "suggest", "auto-fix"] = Field(
        "auto-fix",
        description="auto-fix: repair and try again. suggest: end the task with a proposal. no-adapt: one attempt "
        "only.",
    )
    recipes: bool = Field(
        True, description="Whether failures that can be fixed without an agent are fixed that way first."
    )
    packages: list[str] = Field(
        [], description="Packages that may be added to the project, in addition to those it already knows."
    )
    fallback: list[str] = Field([], description="Agents to continue with, in this order, when one makes no progress.")
