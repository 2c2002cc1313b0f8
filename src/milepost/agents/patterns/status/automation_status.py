"""The pattern automation_enabled_status: which automations a project has on, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from milepost.agents.models.schema import Schema
from milepost.agents.patterns.inputs import inputs_schema, problems_in, values_in
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.status.automations import Automation, automations
from milepost.agents.patterns.status.table import json_text, markdown

_INTRO = "Found from the files of the project; what is set up on a server or in one clone only is not seen."


class AutomationStatus:
    """Looks for what runs by itself, and writes down what it found and where."""

    name = "automation_enabled_status"

    @property
    def schema(self) -> Schema:
        return inputs_schema(
            "Write a page that lists which automations are on: CI, hooks, formatters, updates, Milepost's own.",
            {
                "page": {"type": "string", "minLength": 1, "default": "docs/automation.md", "description": "the table"},
                "json": {"type": "string", "minLength": 1, "default": "docs/automation.json"},
            },
        )

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        return problems_in(self.schema, inputs)

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        values = values_in(self.schema, inputs)
        paths = tuple(path for path in site.paths() if path not in (values["page"], values["json"]))
        found = automations(paths, site.text)
        rows = [(each.kind, each.name, each.state, each.where, each.detail) for each in found]
        heads = ("kind", "automation", "state", "where", "detail")
        site.write(values["page"], markdown("Automation", _INTRO, heads, rows))
        site.write(values["json"], json_text({"automations": list(map(_to_json, found))}))
        on = sum(each.state != "off" for each in found)
        site.say(f"{on} of {len(found)} automations are on")


def _to_json(automation: Automation) -> dict[str, str]:
    return {
        "kind": automation.kind,
        "name": automation.name,
        "state": automation.state,
        "where": automation.where,
        "detail": automation.detail,
    }
