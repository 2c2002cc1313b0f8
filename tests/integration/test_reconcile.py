"""Commits that conflict are merged as far as rules go; what is left is told with all three versions."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.commands import Command, CommandResult
from milepost.core.errors import GitFailed
from milepost.sandbox.terminal import WalledTerminal
from milepost.workspace.merge import Conflicts, Merged, Renewal, merge_trees
from milepost.workspace.mileposts import milepost_message
from milepost.workspace.reconcile.conflict_text import conflict_evidence
from milepost.workspace.reconcile.update_locks import renewed
from tests.integration.repositories import Place, new_place
from tests.tools import needs

BASE = {
    "CHANGELOG.md": "# Changes\n\n- old\n",
    "src/registry.py": 'NAMES = [\n    "base",\n]\n',
    "src/code.py": "def f():\n    return 1\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = new_place(tmp_path)
    for name, text in BASE.items():
        made.write(name, text)
    made.commit("Base")
    return made


def side(place: Place, name: str, files: dict[str, str | None], message: str = "Side") -> str:
    """A commit of these files on top of the base, on a branch of its own."""
    place.git("switch", "--quiet", "--create", name, "main")
    for path, text in files.items():
        if text is None:
            (place.top / path).unlink()
        else:
            place.write(path, text)
    commit = place.commit(message)
    place.git("switch", "--quiet", "main")
    return commit


def added(task: str) -> dict[str, str | None]:
    return {
        "CHANGELOG.md": f"# Changes\n\n- {task}\n- old\n",
        "src/registry.py": f'NAMES = [\n    "base",\n    "{task}",\n]\n',
        f"src/{task}.py": f"{task} = 1\n",
    }


def test_additions_to_the_same_place_become_one_tree_without_a_marker(place: Place) -> None:
    (place.top / "src/registry.py").chmod(0o755)
    place.commit("A program")
    ours, theirs = side(place, "ours", added("b")), side(place, "theirs", added("a"))
    mileposts = place.mileposts()
    assert mileposts.merge(ours, theirs) is None, "git alone gives up"
    found = merge_trees(mileposts, ours, theirs)
    assert isinstance(found, Merged)
    assert found.reconciled == ("CHANGELOG.md", "src/registry.py")
    assert mileposts.file_at(found.tree, "CHANGELOG.md") == b"# Changes\n\n- b\n- a\n- old\n"
    assert mileposts.file_at(found.tree, "src/registry.py") == b'NAMES = [\n    "base",\n    "b",\n    "a",\n]\n'
    assert mileposts.changed_files(ours, found.tree) == ("CHANGELOG.md", "src/a.py", "src/registry.py")
    assert place.git("ls-tree", found.tree, "src/registry.py").startswith("100755")
    assert merge_trees(place.mileposts(), ours, theirs) == found, "the same commits give the same tree"


def test_what_git_can_merge_alone_is_merged_by_git(place: Place) -> None:
    ours, theirs = side(place, "ours", {"a.txt": "a\n"}), side(place, "theirs", {"b.txt": "b\n"})
    mileposts = place.mileposts()
    assert merge_trees(mileposts, ours, theirs) == Merged(tree=mileposts.merge(ours, theirs) or "")
    with pytest.raises(GitFailed):
        merge_trees(mileposts, ours, "0" * 40)


def test_one_file_that_no_rule_merges_leaves_a_conflict_that_names_who_landed(place: Place) -> None:
    message = milepost_message(task="1.1", title="Two", run="r1", attempt=1, agent="x", roadmap="ROADMAP.md")
    ours = side(place, "ours", added("b") | {"src/code.py": "def f():\n    return 2\n"}, message)
    theirs = side(place, "theirs", added("a") | {"src/code.py": "def f():\n    return 3\n"})
    found = merge_trees(place.mileposts(), ours, theirs)
    assert isinstance(found, Conflicts)
    assert found.paths == ("src/code.py",)
    (file,) = found.files
    assert (file.base, file.ours, file.theirs) == tuple(f"def f():\n    return {n}\n".encode() for n in (1, 2, 3))
    assert conflict_evidence(found).splitlines() == [
        "src/code.py: changed in the meantime by 1.1: Two",
        "  near line 2:",
        "    before    |     return 1",
        "    there now |     return 2",
        "    yours     |     return 3",
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"CHANGELOG.md": None}, {"CHANGELOG.md": "# Changes\n\n- a\n- old\n"}),
        ({"both": "1\n"}, {"both/x.md": "- a\n"}),
        ({"new.md": "prose\n"}, {"new.md": "other prose\n"}),
        ({"CHANGELOG.md": "\0\n"}, {"CHANGELOG.md": "# Changes\n\n- a\n- old\n"}),
    ],
    ids=["deleted and changed", "a file and a folder", "two new files", "no text"],
)
def test_other_conflicts_than_of_lines_are_left_alone(
    place: Place, ours: dict[str, str | None], theirs: dict[str, str | None]
) -> None:
    found = merge_trees(place.mileposts(), side(place, "ours", ours), side(place, "theirs", theirs))
    assert isinstance(found, Conflicts) and found.files
    assert conflict_evidence(found)


def test_links_are_not_merged_as_text(place: Place) -> None:
    for name in ("one", "two"):
        place.git("switch", "--quiet", "--create", name, "main")
        (place.top / "CHANGELOG.md").unlink()
        (place.top / "CHANGELOG.md").symlink_to(name)
        place.commit()
    found = merge_trees(place.mileposts(), place.git("rev-parse", "one"), place.git("rev-parse", "two"))
    assert isinstance(found, Conflicts)


def test_names_of_any_bytes_and_renamed_files_are_merged_or_left_but_never_misplaced(place: Place) -> None:
    odd = os.fsdecode(b"odd \xff.md")
    place.write("a b\tü.md", "- old\n")
    place.write(odd, "- old\n")
    place.commit()
    ours = side(place, "ours", {"a b\tü.md": "- old\n- o\n"})
    theirs = side(place, "theirs", {"a b\tü.md": "- old\n- t\n"})
    mileposts = place.mileposts()
    found = merge_trees(mileposts, ours, theirs)
    assert isinstance(found, Merged) and found.reconciled == ("a b\tü.md",)
    assert mileposts.file_at(found.tree, "a b\tü.md") == b"- old\n- o\n- t\n"
    ours, theirs = (side(place, f"odd-{s}", {odd: f"- old\n- {s}\n"}) for s in "ot")
    assert isinstance(merge_trees(mileposts, ours, theirs), Conflicts)
    text = "".join(f"- {number}\n" for number in range(20))
    place.write("long.md", text)
    place.commit()
    ours = side(place, "renames", {"long.md": None, "moved.md": f"{text}- o\n"})
    theirs = side(place, "adds", {"long.md": f"{text}- t\n"})
    found = merge_trees(mileposts, ours, theirs)
    assert isinstance(found, Merged) and found.reconciled == ("moved.md",)
    assert mileposts.file_at(found.tree, "moved.md") == f"{text}- o\n- t\n".encode()
    assert mileposts.file_at(found.tree, "long.md") is None


def manifest(**dependencies: str) -> str:
    return json.dumps({"name": "x", "version": "1.0.0", "dependencies": dependencies}, indent=2) + "\n"


class Writes:
    """A terminal on which the tool that renews a lock writes this."""

    def __init__(self, content: str, code: int = 0) -> None:
        self.content, self.code = content, code
        self.commands: list[Command] = []

    def run(self, command: Command, on_line: object = None) -> CommandResult:
        self.commands.append(command)
        (command.cwd / "package-lock.json").write_text(self.content)
        (command.cwd / "evil.js").write_text("left behind")
        return CommandResult(
            termination="exited", exit_code=self.code, stdout="", stderr="", duration_ms=0, enforced=()
        )


def test_a_lock_is_written_by_its_tool_on_top_of_both_manifests(place: Place) -> None:
    place.write("web/package.json", manifest(a="1.0.0"))
    place.write("web/package-lock.json", '{"lock": "base"}\n')
    place.commit()
    sides = [
        side(
            place,
            name,
            {"web/package.json": manifest(a="1.0.0", **more), "web/package-lock.json": f'{{"l": "{name}"}}'},
        )
        for name, more in (("ours", {"c": "1.0.0"}), ("theirs", {"b": "1.0.0"}))
    ]
    mileposts, checkouts = place.mileposts(), place.checkouts()
    found = merge_trees(mileposts, sides[0], sides[1])
    assert isinstance(found, Merged)
    assert [one.path for one in found.renewals] == ["web/package-lock.json"]
    assert found.renewals[0].argv[:2] == ("npm", "install") and "--ignore-scripts" in found.renewals[0].argv
    assert found.reconciled == ("web/package.json",)
    workspace = checkouts.make("renew", sides[0], tree=found.tree)
    both = json.loads((workspace.folder / "web/package.json").read_text())["dependencies"]
    assert both == {"a": "1.0.0", "b": "1.0.0", "c": "1.0.0"}
    tool = Writes('{"lock": "both"}\n')
    tree = renewed(found, workspace, tool, mileposts, timeout_s=60)
    assert tree is not None
    assert tool.commands[0].cwd == workspace.folder / "web"
    assert mileposts.changed_files(found.tree, tree) == ("web/package-lock.json",)
    assert mileposts.file_at(tree, "web/package-lock.json") == b'{"lock": "both"}\n'
    for broken in (Writes('{"lock": "both"}', code=1), Writes("{"), Writes("")):
        assert renewed(found, workspace, broken, mileposts, timeout_s=60) is None
    lock = workspace.folder / "web/package-lock.json"
    lock.unlink()
    lock.symlink_to(workspace.folder / "web/package.json")
    assert renewed(found, workspace, Writes(manifest()), mileposts, timeout_s=60) is None


@needs("cargo")
def test_cargo_renews_a_lock_for_two_members_of_a_workspace_without_a_network(place: Place) -> None:
    def member(name: str) -> str:
        return f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n'

    def files(*names: str) -> dict[str, str | None]:
        packages = "".join(f'[[package]]\nname = "{name}"\nversion = "0.1.0"\n\n' for name in sorted(names))
        made = {f"{name}/Cargo.toml": member(name) for name in names} | {f"{name}/src/lib.rs": "" for name in names}
        listed = "".join(f'    "{name}",\n' for name in names)
        return {
            **made,
            "Cargo.toml": f'[workspace]\nresolver = "2"\nmembers = [\n{listed}]\n',
            "Cargo.lock": f"version = 3\n\n{packages}".rstrip("\n") + "\n",
        }

    for path, text in files("base").items():
        place.write(path, text or "")
    place.commit()
    ours, theirs = side(place, "ours", files("base", "one")), side(place, "theirs", files("base", "two"))
    mileposts = place.mileposts()
    found = merge_trees(mileposts, ours, theirs)
    assert isinstance(found, Merged), found
    argv = ("cargo", "update", "--workspace", "--offline")
    assert found.renewals == (Renewal(path="Cargo.lock", argv=argv),)
    workspace = place.checkouts().make("renew", ours, tree=found.tree)
    with WalledTerminal() as terminal:
        tree = renewed(found, workspace, terminal, mileposts, timeout_s=120)
        missing = replace(found, renewals=(Renewal(path="Cargo.lock", argv=("no-such-tool",)),))
        assert renewed(missing, workspace, terminal, mileposts, timeout_s=120) is None
    assert tree is not None
    lock = (mileposts.file_at(tree, "Cargo.lock") or b"").decode()
    assert [name for name in ("base", "one", "two") if f'name = "{name}"' in lock] == ["base", "one", "two"]
