"""What no guest may change: by which names it is known, where it is found, and what is taken away after a guest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from milepost.core.commands import Command
from milepost.sandbox.container.commands import Berth, Container, run
from milepost.sandbox.container.open_container import launch_in_image
from milepost.sandbox.launch import Launch, Surroundings
from milepost.sandbox.protected_paths import Guard, is_protected_name
from milepost.sandbox.walls import confine

SPELLINGS = (".git", ".GIT", ".Git ", ".git...", ".gi\u200ct", ".g\u0131t", "GIT~1", ".git::$INDEX_ALLOCATION")
OTHERS = (".gitignore", "git", ".github", "milepost.toml", ".milepost-notes", "x.git", "..git")


@pytest.mark.parametrize("name", [*SPELLINGS[:5], *SPELLINGS[6:], ".milepost", ".MilePost.", "MILEPO~1", "\uff0egit"])
def test_every_spelling_that_a_file_system_may_fold_is_protected(name: str) -> None:
    assert is_protected_name(name)


@pytest.mark.parametrize("name", OTHERS)
def test_other_names_are_not(name: str) -> None:
    assert not is_protected_name(name)


def test_repositories_are_found_wherever_they_are_and_whatever_points_to_them(tmp_path: Path) -> None:
    for folder in (".git/hooks", "deep/inner/.git", "bare", "real", "plain"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/.git").write_text("gitdir: ../bare\n")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/.git").symlink_to("../real")
    (tmp_path / "out").symlink_to("/")
    names = (".git", "bare", "deep/inner/.git", "real", "tree/.git")
    assert sorted(Guard([tmp_path]).paths()) == [tmp_path / name for name in names]
    assert Guard([tmp_path / ".git/hooks"]).paths() == (tmp_path / ".git/hooks",)


def test_what_a_guest_put_under_such_a_name_is_moved_away_and_told(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/.git").symlink_to("../elsewhere")
    guard = Guard([tmp_path])
    for folder in ("new/.git/hooks", ".MILEPOST"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "linked/.git").unlink()
    (tmp_path / "linked/.git").write_text("gitdir: /tmp/theirs")
    told = guard.clear()
    assert len(told) == 3 and all("may change .git or .milepost; what was put there is now" in line for line in told)
    assert (tmp_path / "new/git.refused-1/hooks").is_dir() and (tmp_path / ".git").is_dir()
    assert str((tmp_path / "linked/.git").readlink()) == "../elsewhere"
    assert guard.clear() == ()


def test_a_container_has_it_mounted_read_only(tmp_path: Path) -> None:
    for name in ("work/.git", "scratch"):
        (tmp_path / name).mkdir(parents=True)
    command = Command(argv=("sh",), cwd=tmp_path / "work", scratch=tmp_path / "scratch")
    for in_checkouts in (False, True):
        launch = launch_in_image(command, Surroundings(home=tmp_path, in_checkouts=in_checkouts))
        assert isinstance(launch, Launch)
        berth = Berth(name="a", user=1, group=1, variables=tmp_path)
        argv = run(Container(program="podman", image="image"), launch, berth)
        git = tmp_path / "work/.git"
        assert (f"type=bind,source={git},destination={git},readonly" in argv) is not in_checkouts


LANDLOCKED = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from walls import confine
work = sys.argv[2]
confine.forbid_new_privileges()
confine.restrict_files(["/"], [work], protected=[f"{work}/.git", f"{work}/sub/.git"])
def tried(path, flags=os.O_WRONLY | os.O_CREAT):
    try:
        os.close(os.open(f"{work}/{path}", flags))
    except OSError as problem:
        return problem.errno
    return 0
paths = (".git/hooks/new", ".git/config", "sub/.git/config", "new", "out/new", "file", "src/new", "sub/src/new")
print(json.dumps({path: tried(path) for path in paths}))
"""


def test_landlock_alone_keeps_it_at_the_cost_of_new_names_beside_it(tmp_path: Path) -> None:
    if confine.landlock_abi() < 1:
        pytest.skip("this kernel has no Landlock")
    for folder in (".git/hooks", "sub/.git", "sub/src", "src", "outside"):
        (tmp_path / "work" / folder).mkdir(parents=True)
    for file in (".git/config", "sub/.git/config", "file"):
        (tmp_path / "work" / file).touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work/out").symlink_to(tmp_path / "elsewhere")
    argv = [sys.executable, "-c", LANDLOCKED, str(Path(confine.__file__).parent.parent), str(tmp_path / "work")]
    told = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    assert {path for path, error in told.items() if error == 0} == {"file", "src/new", "sub/src/new"}
    assert [*(tmp_path / "elsewhere").iterdir()] == []
