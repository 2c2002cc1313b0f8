"""The adopt command: a person agrees to a state directory that was made elsewhere."""

from __future__ import annotations

import json

import typer

from milepost import runs
from milepost.cli.arguments import Json, RoadmapOption
from milepost.cli.output import print_lines


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(adopt)


def adopt(roadmap: RoadmapOption = None, as_json: Json = False) -> None:
    """Use the recorded runs of a repository that somebody else, an earlier version, or you with another home made.

    Only do so if you trust who made them: an unfinished run continues with the agent and the limits that it names.
    """
    state, is_new = runs.adopt_state(roadmap)
    if as_json:
        print_lines(json.dumps({"state": str(state), "adopted": is_new}, indent=2))
    else:
        print_lines(f"{'agreed to' if is_new else 'already yours:'} {state}")
