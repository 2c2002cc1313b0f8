"""The section [terminal]: which commands are allowed, asked about or denied."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from milepost.engine.project.settings.reach import SAFE, Asks, one_of
from milepost.engine.project.settings.section import SettingsSection
from milepost.sandbox.policy.rule import clause_of


class TerminalSettings(SettingsSection):
    allow: Annotated[list[str], Asks("lets agents run these commands without asking")] = Field(
        [],
        description="Commands agents may run: a program, or a program with arguments such as `git push --force`. A "
        "harmful command is allowed only if the entry includes the part that makes it harmful. Empty: the built-in "
        "rules.",
    )
    ask: Annotated[list[str], SAFE] = Field(
        [], description="Commands for which a person is always asked. Empty: as approve in [run]."
    )
    deny: Annotated[list[str], SAFE] = Field([], description="Commands that never run. Empty: the built-in rules.")
    unlisted: Annotated[Literal["allow", "ask", "deny"], SAFE] = Field(
        "allow", description="What happens to harmless programs that are in none of the lists."
    )
    shell: Annotated[
        Literal["never", "read", "any"],
        Asks("lets agents run shell commands that nobody can read beforehand", unless=one_of("never")),
    ] = Field(
        "read",
        description="Shell commands such as `bash -c`. never: refused. read: each part is checked, and a person is "
        "asked when it is unclear what would run. any: only the parts that are clear are checked.",
    )
    quick_s: Annotated[float, SAFE] = Field(
        60, gt=0, description="Timeout in seconds for commands that only read, such as `git status`."
    )
    medium_s: Annotated[float, SAFE] = Field(
        600, gt=0, description="Timeout in seconds for all other commands, such as `pytest`."
    )
    long_s: Annotated[float, SAFE] = Field(
        1800, gt=0, description="Timeout in seconds for builds and installations, such as `npm ci`."
    )
    background_s: Annotated[float, SAFE] = Field(
        60, gt=0, description="Timeout in seconds for commands that do not end by themselves, such as `npm run dev`."
    )

    @field_validator("allow", "ask", "deny")
    @classmethod
    def _can_be_read(cls, given: list[str]) -> list[str]:
        for text in given:
            clause_of(text)
        return given
