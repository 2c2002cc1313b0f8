"""The pattern agent: does a task from its inputs, without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from milepost.agents.patterns.pattern import Pattern
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.errors import PatternInputsInvalid
from milepost.core.ports import Tools


@dataclass(frozen=True, slots=True)
class PatternAgent:
    """Executes one pattern with the inputs of the task."""

    pattern: Pattern

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        try:
            files = self.pattern.execute(_inputs_of(assignment), workspace.folder)
        except PatternInputsInvalid as error:
            tools.say(error.message)
            return Outcome(status="gave_up", said=error.message)
        for file in files:
            tools.say(f"wrote {file}")
        if not files:
            tools.say("every file is there already")
        return Outcome(status="finished", said=f"{self.pattern.name} wrote {', '.join(files) or 'nothing new'}")


def _inputs_of(assignment: Assignment) -> Mapping[str, str]:
    counts = Counter(name for name, _ in assignment.inputs)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise PatternInputsInvalid(f"given more than once: {', '.join(repeated)}")
    return dict(assignment.inputs)
