"""Roadmaps read from prose and written anew, as a user does it at the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.conftest import Sandbox
from tests.fakes.model_server import ModelServer

NOTES = """\
# Notes

We should say hello in hello.txt, and
`test -s hello.txt` tells whether that is done.
Somebody has to write the README after that.
"""
ITEMS = {
    "items": [
        {
            "title": "Say hello",
            "description": "write hello.txt hello",
            "source_line": 3,
            "source_words": "We should say hello in hello.txt",
            "files": ["hello.txt"],
            "verify": ["test -s hello.txt"],
        },
        {
            "title": "Write the README",
            "source_line": 5,
            "source_words": "Somebody has to write the README",
            "depends_on": ["Say hello"],
        },
        {"title": "Launch a rocket", "source_line": 4, "source_words": "Launch a rocket to the moon"},
    ]
}
PLAN = {
    "title": "Hello",
    "phases": [
        {
            "name": "First",
            "sections": [{"tasks": [{"title": "Say hello", "files": ["a.txt"], "verify": ["test -s a.txt"]}]}],
        }
    ],
}


def script(answer: Mapping[str, object]) -> dict[str, object]:
    return {"tasks": {"*": [[{"calls": [{"name": "answer", "arguments": answer}]}] * 3]}}


def test_prose_is_read_shown_written_planned_and_run(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.write("NOTES.md", NOTES)
    with ModelServer(script(ITEMS), tmp_path / "log") as server:
        sandbox.write("milepost.toml", server.settings())
        shown = sandbox.milepost("roadmap", "normalise", "NOTES.md")

        assert shown.code == 0, shown.stderr
        lines = shown.stdout.splitlines()
        assert lines[0] == "NOTES.md · 2 tasks · 0 done · read by openai:scripted-1"
        assert " ".join(lines[2].split()) == "line 3 1.1 Say hello hello.txt verify: test -s hello.txt"
        assert " ".join(lines[3].split()) == "line 5 1.2 Write the README after 1.1"
        assert "item 3 ('Launch a rocket'): line 4 does not say" in shown.stdout
        assert "openai:scripted-1: 3000 tokens in, 300 out, $0.0033" in lines
        assert lines[-1].endswith("milepost roadmap normalise NOTES.md --write ROADMAP.md")
        assert "asking openai:scripted-1: at most" in shown.stderr
        assert not (sandbox.repo / "ROADMAP.md").exists()

        written = sandbox.milepost("roadmap", "normalise", "NOTES.md", "--write", "ROADMAP.md")
        assert written.code == 0, written.stderr
        assert (
            "openai:scripted-1 read this document before: the model was not asked again, nothing was paid"
            in written.stdout
        )
        assert "wrote ROADMAP.md: 2 tasks · 2 open · 2 waves" in written.stdout
        assert len(server.questions) == 3

        again = sandbox.milepost("roadmap", "normalise", "NOTES.md", "--write", "ROADMAP.md")
        assert (again.code, again.stdout) == (2, "")
        assert again.stderr.splitlines()[0] == "error: 'ROADMAP.md' exists already"

        told = sandbox.milepost("roadmap", "normalise", "NOTES.md", "--json").json
        assert (told["cached"], told["input_tokens"], told["written"]) == (True, 0, None)
        assert [task["line"] for task in told["tasks"]] == [3, 5] and told["roadmap"].startswith("# Roadmap of NOTES")
    assert sandbox.git("status", "--porcelain") == "?? NOTES.md\n?? ROADMAP.md\n?? milepost.toml"
    sandbox.commit("Roadmap")
    assert sandbox.run("--task", "1.1").code == 0
    assert sandbox.mileposts() == ["1.1"]


def test_a_roadmap_is_written_from_a_prompt(sandbox: Sandbox, tmp_path: Path) -> None:
    with ModelServer(script(PLAN), tmp_path / "log") as server:
        sandbox.write("milepost.toml", server.settings())
        shown = sandbox.milepost("roadmap", "new", "--prompt", "say hello")
        assert shown.code == 0 and shown.stdout.startswith("# Hello\n\n## Phase 1: First\n"), shown.stderr
        assert shown.stderr.splitlines()[-1] == "openai:scripted-1: 1000 tokens in, 100 out, $0.0011"
        told = sandbox.milepost("roadmap", "new", "--prompt", "say hello", "--json").json
        assert told["roadmap"] == shown.stdout and told["cost_usd"] == pytest.approx(0.0011)
        written = sandbox.milepost("roadmap", "new", "--prompt", "say hello", "--write", "PLAN.md")
        assert written.stdout.splitlines() == [
            "wrote PLAN.md: 1 task · 1 open · 1 wave",
            "next   read it, then: git add PLAN.md && git commit -m Roadmap && milepost plan PLAN.md",
        ]
        made = sandbox.milepost("init", "--from", "say hello")
        assert made.stdout.splitlines()[0] == "created ROADMAP.md", made.stderr
    assert (sandbox.repo / "ROADMAP.md").read_text() == (sandbox.repo / "PLAN.md").read_text() == shown.stdout


def test_templates_are_listed_shown_and_written_without_a_model(sandbox: Sandbox) -> None:
    listed = sandbox.milepost("roadmap", "templates")
    assert "python-library" in listed.stdout and listed.code == 0
    names = [one["name"] for one in sandbox.milepost("roadmap", "templates", "--json").json]
    assert "blank" in names
    shown = sandbox.milepost("roadmap", "new", "--template", "cli-tool", "--style", "minimal")
    assert "- [ ] 1.1 Write the program's entry point\n  - Files: " in shown.stdout and shown.stderr == ""
    made = sandbox.milepost("init", "--template", "bugfix")
    assert made.stdout.splitlines()[:2] == ["created ROADMAP.md", "created milepost.toml"]
    assert json.loads(sandbox.milepost("plan", "--json").stdout)["tasks"][0]["id"] == "1.1"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("roadmap", "new", "--prompt", "a shop"), 2, "error: no model is named"),
        (("init", "--from", "a shop"), 2, "error: no model is named"),
        (("init", "--from", ""), 2, "error: neither a prompt nor a template is given"),
        (("roadmap", "normalise", "README.md"), 2, "error: no model is named"),
        (("roadmap", "normalise", "NO.md"), 2, "error: there is no roadmap 'NO.md'"),
        (("roadmap", "new", "--template", "nope"), 2, "error: there is no template 'nope'"),
    ],
)
def test_what_is_missing_is_one_line_and_what_to_do(
    sandbox: Sandbox, words: tuple[str, ...], code: int, said: str
) -> None:
    done = sandbox.milepost(*words)
    assert (done.code, done.stdout) == (code, "")
    first, *advice = done.stderr.splitlines()
    assert first == said and len(advice) == 1
    assert sandbox.git("status", "--porcelain") == ""
