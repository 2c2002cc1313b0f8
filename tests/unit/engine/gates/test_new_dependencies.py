from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.engine.gates.new_dependencies import new_dependencies
from milepost.engine.gates.rules import needs_gate
from milepost.plan.advice.risk import Risk


@pytest.mark.parametrize(
    ("path", "before", "after", "added"),
    [
        ("requirements.txt", "flask==3\n", "flask==3\nleft-pad==1.0\n", "left-pad==1.0 in requirements.txt"),
        ("requirements.txt", "flask==3\n", "flask==4\n", "flask==4 in requirements.txt"),
        (
            "api/pyproject.toml",
            '[project]\nname = "a"\n',
            '[project]\nname = "a"\ndependencies = ["left-pad>=1"]\n',
            "left-pad>=1 in api/pyproject.toml",
        ),
        ("package.json", "{}", '{"devDependencies": {"left-pad": "^1.0"}}', "left-pad ^1.0 in package.json"),
        ("Cargo.toml", "", '[dependencies]\nserde = "1"\n', "serde 1 in Cargo.toml"),
        ("go.mod", "module a\n", "module a\n\nrequire a.org/x v1.2.0\n", "a.org/x v1.2.0 in go.mod"),
    ],
)
def test_a_new_dependency_is_asked_about_with_its_version_and_manifest(
    path: str, before: str, after: str, added: str
) -> None:
    change = Change(files=(ChangedFile(path=path, before=before.encode(), after=after.encode()),))
    dangers = new_dependencies(change)
    assert [danger.what for danger in dangers] == [added]
    task = Task(id="T1", title="Pad", status="open", line=1)
    question = needs_gate("after", task, Risk(), dangers, "risky") or ""
    assert f"It adds a dependency: {added}." in question
    assert needs_gate("after", task, Risk(), dangers, "never") is None


def test_what_stays_or_goes_and_what_a_lock_repeats_is_not_asked_about() -> None:
    files = (
        ChangedFile(path="requirements.txt", before=b"a==1\nb==1\n", after=b"# both\na==1\n"),
        ChangedFile(path="package-lock.json", before=None, after=b'{"packages": {"node_modules/x": {"version": "1"}}}'),
        ChangedFile(path="package.json", before=b"{}", after=b"{ not json"),
    )
    assert new_dependencies(Change(files=files)) == ()
