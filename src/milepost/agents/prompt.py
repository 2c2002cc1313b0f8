"""The prompt: an assignment as text that any agent can work from."""

from __future__ import annotations

from milepost.agents.prompts import filled, quoted
from milepost.core.attempt import Assignment

LONGEST_TEXT = 200_000  # what is asked for is cut only where no model could read it


def prompt_for(assignment: Assignment) -> str:
    """The whole prompt; parts that have nothing to say are left out."""
    sections = (
        filled("task_text", quote=quoted(assignment.text, limit=LONGEST_TEXT)) if assignment.text.strip() else "",
        filled("task_rules", quotes="\n\n".join(f"{_line(path)}:\n{quoted(text)}" for path, text in assignment.rules))
        if assignment.rules
        else "",
        filled("task_inputs", list=_bullets(tuple(f"{name}: {value}" for name, value in assignment.inputs)))
        if assignment.inputs
        else "",
        filled("task_files", list=_bullets(assignment.files)) if assignment.files else "",
        filled("task_verify", list=_bullets(assignment.verify)) if assignment.verify else filled("task_tests"),
        filled("task_notes", quotes="\n\n".join(map(quoted, assignment.notes))) if assignment.notes else "",
        filled("task_evidence", attempt=str(assignment.attempt), quotes="\n\n".join(map(quoted, assignment.evidence)))
        if assignment.evidence
        else "",
        filled("task_lessons", quote=quoted(_paragraphs(assignment.lessons))) if assignment.lessons else "",
        filled("task_context", quote=quoted(assignment.context, limit=len(assignment.context)))
        if assignment.context
        else "",
    )
    return filled(
        "task",
        task=_line(assignment.task),
        title=_line(assignment.title),
        sections="\n".join(section for section in sections if section),
    )


def _bullets(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {' '.join(line.splitlines())}" for line in lines)


def _paragraphs(texts: tuple[str, ...]) -> str:
    """Texts of several lines, whose code keeps its shape, each as an item of a list."""
    return "\n".join("- " + "\n  ".join(text.strip().splitlines()) for text in texts if text.strip())


def _line(text: str) -> str:
    """Text for a line of our own: it cannot begin another one."""
    return " ".join(text.split())
