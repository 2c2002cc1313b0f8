from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import subprocess
import sys
import tarfile
import threading
import venv
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Terminal
from milepost.engine.project.settings.settings import Settings
from milepost.engine.terminals.limits import for_installers
from milepost.engine.terminals.wrappers import LimitedTerminal
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.command_runner import Bench
from milepost.verify.environments import Environments, EnvironmentSettings, Equipment, EquippedTerminal
from milepost.verify.environments.package_cache import Entries, Failed
from milepost.verify.suites.python_project import find_interpreter
from tests import lean
from tests.tools import needs


class Watched:
    """A terminal that remembers what it ran."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.commands: list[Command] = []

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        self.commands.append(command)
        return self._terminal.run(command, on_line)

    def count(self, *words: str) -> int:
        return sum(set(words) <= set(command.argv) for command in self.commands)


class Place:
    """A user's repository, their wheels, a cache, and checkouts of the repository."""

    def __init__(self, root: Path, terminal: Terminal) -> None:
        self.root = root
        self.terminal = Watched(terminal)
        self.repository, self.wheels = root / "repository", root / "wheels"
        for folder in (self.repository, self.wheels, root / "home", root / "bin"):
            folder.mkdir()
        (root / "bin" / "python3").symlink_to(Path(sys.base_prefix, "bin", "python3"))
        self.path = os.pathsep.join((str(root / "bin"), *filter(_has_no_python, os.environ["PATH"].split(os.pathsep))))
        self.environ = {"PATH": self.path, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}
        self.checkouts = 0

    def environments(self, **settings: object) -> Environments:
        return Environments(
            cache=self.root / "cache",
            terminal=self.terminal,
            repository=self.repository,
            environ=self.environ,
            home=self.root / "home",
            settings=EnvironmentSettings(**settings),  # type: ignore[arg-type]
        )

    def wheel(self, name: str, version: str, **files: str) -> None:
        (self.wheels / f"{name}-{version}-py3-none-any.whl").write_bytes(wheel(name, version, **files))

    def sdist(self, name: str, version: str, setup: str) -> None:
        """A source distribution whose setup.py does something before it sets up."""
        content = f"{setup}\nfrom setuptools import setup\nsetup(name={name!r}, version={version!r})\n".encode()
        with tarfile.open(self.wheels / f"{name}-{version}.tar.gz", "w:gz") as archive:
            facts = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
            for path, data in (("setup.py", content), ("PKG-INFO", facts)):
                entry = tarfile.TarInfo(f"{name}-{version}/{path}")
                entry.size = len(data)
                archive.addfile(entry, BytesIO(data))

    def write(self, **files: str) -> None:
        write(self.repository, files)

    def checkout(self, **changed: str) -> Workspace:
        self.checkouts += 1
        folder = self.root / f"checkout-{self.checkouts}"
        for path in self.repository.rglob("*"):
            inside = path.relative_to(self.repository)
            if path.is_file() and not {".venv", "node_modules"} & set(inside.parts):
                write(folder, {str(inside): path.read_bytes()})
        write(folder, changed)
        scratch = self.root / f"scratch-{self.checkouts}"
        scratch.mkdir()
        return Workspace(folder=folder, scratch=scratch, base="0" * 40)

    def run(self, workspace: Workspace, equipment: Equipment, *argv: str) -> CommandResult:
        bench = Bench(terminal=self.terminal, path=self.path, timeout_s=60).equipped(equipment)
        return bench.run(argv, workspace)

    def says(self, workspace: Workspace, equipment: Equipment, code: str) -> str:
        result = self.run(workspace, equipment, str(equipment.interpreter and equipment.interpreter.path), "-c", code)
        assert result.succeeded, result.stderr + result.error
        return result.stdout.strip()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with WalledTerminal() as terminal:
        yield Place(tmp_path, LimitedTerminal(terminal=terminal, allowance=for_installers(Settings())))


def _has_no_python(entry: str) -> bool:
    return not Path(entry, "python3").exists() or entry in ("/usr/bin", "/bin")


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def wheel(name: str, version: str, **files: str) -> bytes:
    """A wheel with a module `name` that knows its version."""
    known_as = f"{name}-{version}.dist-info"
    content = {
        f"{name}.py": f"version = {version!r}\n",
        f"{known_as}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{known_as}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        **files,
    }
    record = "".join(f"{path},sha256={_hash(text)},{len(text)}\n" for path, text in content.items())
    held = BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for path, text in {**content, f"{known_as}/RECORD": f"{record}{known_as}/RECORD,,\n"}.items():
            archive.writestr(path, text)
    return held.getvalue()


def _hash(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def at_once(*calls: Callable[[], Equipment]) -> list[Equipment]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def listing(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.lstat().st_mtime_ns for path in sorted(folder.rglob("*"))}


def test_an_environment_is_made_once_for_what_checkouts_ask_for_and_anew_when_that_changes(place: Place) -> None:
    place.wheel("tiny", "1.0")
    place.wheel("tiny", "2.0")
    place.write(**{"requirements.txt": "tiny==1.0  # the old one\n", "app.py": ""})
    workspaces = [place.checkout(), place.checkout(**{"app.py": "changed = True"})]

    one, other = at_once(*(partial(place.environments().for_checkout, workspace) for workspace in workspaces))

    assert one == other
    assert (one.problem, one.origin) == ("", ("installed from requirements files",))
    assert place.terminal.count("venv") == 1
    assert place.says(workspaces[0], one, "import tiny; print(tiny.version)") == "1.0"
    ran = place.terminal.count("install")

    changed = place.checkout(**{"requirements.txt": "tiny==2.0\n"})
    new = place.environments().for_checkout(changed)

    assert place.environments().for_checkout(place.checkout()) == one
    assert place.terminal.count("install", "-r") == 2
    assert place.terminal.count("install") == ran + 2  # the question whether python3 has it already, and the answer
    assert place.says(changed, new, "import tiny; print(tiny.version)") == "2.0"
    assert place.says(workspaces[0], one, "import tiny; print(tiny.version)") == "1.0"
    assert new.lock != one.lock
    bench = Bench(terminal=place.terminal, path=place.path)
    assert bench.equipped(one).fingerprint(("python",)) != bench.equipped(new).fingerprint(("python",))


def test_the_plugins_of_pytest_are_compiled_where_they_may_be_and_not_anew_each_time_tests_are_run(
    place: Place,
) -> None:
    lean.wheels(place.wheels)
    plugin = {"tiny-1.0.dist-info/entry_points.txt": "[pytest11]\ntiny = tiny\n"}
    place.wheel("tiny", "1.0", **plugin)
    place.write(**{"requirements.txt": "tiny==1.0\n", "test_app.py": "import pytest\n"})
    made = place.environments().for_checkout(place.checkout())
    assert made.problem == "" and made.interpreter is not None
    compiled = [path.name for path in made.interpreter.path.parent.parent.rglob("tiny.*-pytest-*.pyc")]
    assert len(compiled) == 1, "as pytest compiles it, beside what the interpreter itself compiled"


def test_installers_write_only_to_their_entry_and_checks_not_even_there(place: Place) -> None:
    place.wheel("tiny", "1.0")
    place.write(**{"requirements.txt": "tiny\n"})
    workspace = place.checkout()

    made = place.environments().for_checkout(workspace)

    assert made.interpreter is not None
    assert made.interpreter.environment is not None
    entry = made.interpreter.environment.parent
    installs = [command for command in place.terminal.commands if "-r" in command.argv or "venv" in command.argv]
    assert {(command.cwd, *command.writable) for command in installs} == {(entry, entry)}
    assert all(command.scratch.is_relative_to(entry) for command in installs)
    assert not list(entry.glob(".scratch*"))
    attack = "import tiny; open(tiny.__file__, 'w').write('version = 7')"
    assert "PermissionError" in place.run(workspace, made, str(made.interpreter.path), "-c", attack).stderr


def test_the_users_environment_is_used_while_it_fits_and_never_written_to(place: Place) -> None:
    venv.create(place.repository / ".venv", with_pip=False, symlinks=True)
    place.wheel("tiny", "1.0")
    place.write(**{"pyproject.toml": '[project]\nname = "app"\nversion = "1"\ndependencies = []\n'})
    before = listing(place.repository)
    environments = place.environments()

    same = place.checkout(**{"pyproject.toml": (place.repository / "pyproject.toml").read_text() + "[tool.x]\ny = 1\n"})
    fits = environments.for_checkout(same)
    needy = place.checkout(
        **{"pyproject.toml": '[project]\nname = "app"\nversion = "1"\n[dependency-groups]\ndev = ["tiny"]\n'}
    )
    made = environments.for_checkout(needy)

    assert fits.interpreter is not None
    assert fits.interpreter.environment == place.repository / ".venv"
    assert place.terminal.count("venv") == 1
    assert place.says(needy, made, "import tiny; print(tiny.version)") == "1.0"
    assert listing(place.repository) == before
    assert place.environments(mode="own").for_checkout(needy).interpreter == fits.interpreter


def test_no_environment_and_no_tool_is_taken_in_which_git_tracks_a_file(place: Place) -> None:
    venv.create(place.repository / ".venv", with_pip=False, symlinks=True)
    (place.repository / "linked").symlink_to(".venv")
    for words in (("init", "--quiet"), ("add", "--force", ".venv/pyvenv.cfg")):
        subprocess.run(["git", *words], cwd=place.repository, check=True)
    made = place.environments().for_checkout(place.checkout())

    assert made.interpreter is not None
    assert not made.interpreter.path.is_relative_to(place.repository)
    assert "not .venv: git tracks .venv/pyvenv.cfg, and a commit could change it" in made.origin
    environ = {"PATH": f".:{place.repository}/.venv/bin", "VIRTUAL_ENV": str(place.repository / "linked")}
    assert find_interpreter(place.repository, environ) is None
    assert find_interpreter(place.repository, environ, "linked/bin/python") is None
    subprocess.run(["git", "rm", "--quiet", "--cached", ".venv/pyvenv.cfg"], cwd=place.repository, check=True)
    assert find_interpreter(place.repository, environ) is not None


def test_a_source_that_a_change_adds_is_built_only_where_the_settings_name_it(place: Place) -> None:
    home = place.root / "home"
    (home / ".npmrc").write_text("//registry.example/:_authToken=npm-key\n")
    (home / ".pip").mkdir()
    (home / ".pip/pip.conf").write_text("[global]\ntimeout = 20\n")
    place.sdist("evil", "1.0", "import pathlib; print(pathlib.Path.home().joinpath('.npmrc').read_text())")
    place.write(**{"requirements.txt": ""})
    added = place.checkout(**{"requirements.txt": "evil==1.0\n"})

    refused = place.environments().for_checkout(added)
    ran = [command for command in place.terminal.commands if "pip" in command.argv and "-r" in command.argv]
    lent = {path.name for command in ran for path in command.readable}

    assert refused.problem.startswith("evil, which the change adds, has no wheel: [verify] build =")
    assert len(ran) == 1 and "--only-binary" in ran[0].argv
    assert ".npmrc" not in lent and ".pip" in lent
    place.environments(builds=("evil",)).for_checkout(added)
    assert "--no-binary" in place.terminal.commands[-1].argv


def test_wheels_are_installed_without_the_users_settings_and_without_a_network(place: Place) -> None:
    place.wheel("tiny", "1.0")
    place.write(**{"requirements.txt": ""})
    workspace = place.checkout(**{"requirements.txt": "tiny\n"})
    made = place.environments().for_checkout(workspace)

    assert place.says(workspace, made, "import tiny; print(tiny.version)") == "1.0"
    installs = [command for command in place.terminal.commands if "install" in command.argv and "-r" in command.argv]
    assert [(command.offline, "PIP_FIND_LINKS" in command.env) for command in installs] == [(True, False)]


def test_a_package_that_is_not_to_be_had_is_a_problem_told_once_and_what_there_was_is_kept(place: Place) -> None:
    place.write(**{"requirements.txt": "no-such-thing==9\n"})
    environments = place.environments()

    equipment = environments.for_checkout(place.checkout())
    tried = len(place.terminal.commands)
    same = environments.for_checkout(place.checkout())

    assert equipment.problem.splitlines()[0] == (
        "pip exit 1: ERROR: No matching distribution found for no-such-thing==9"
    )
    assert same.problem == equipment.problem
    assert len(place.terminal.commands) == tried
    assert equipment.interpreter is not None
    assert equipment.interpreter.path == place.root / "bin" / "python3"
    assert not list((place.root / "cache").glob("python-*/"))


def test_only_places_and_archives_that_the_users_repository_names_give_packages(place: Place) -> None:
    place.write(**{"requirements.txt": "--find-links ./vendored\ntiny\n"})
    (place.repository / "vendored").mkdir()
    (place.repository / "vendored" / "tiny-1.0-py3-none-any.whl").write_bytes(wheel("tiny", "1.0"))
    forged = wheel("tiny", "1.0", **{"pytest.py": "def main(): return 0"})
    honest, sly = place.checkout(), place.checkout()
    for workspace, content in ((honest, wheel("tiny", "1.0")), (sly, forged)):
        (workspace.folder / "vendored" / "tiny-1.0-py3-none-any.whl").write_bytes(content)
    elsewhere = place.checkout(**{"requirements.txt": "--index-url http://127.0.0.1:9/simple\ntiny\n"})
    environments = place.environments()

    made = environments.for_checkout(honest)
    assert place.says(honest, made, "import tiny; print(tiny.version)") == "1.0"
    assert "vendored/tiny-1.0-py3-none-any.whl" in environments.for_checkout(sly).problem
    assert "127.0.0.1/simple" in environments.for_checkout(elsewhere).problem


def test_a_package_of_the_checkout_is_known_by_name_and_programs_without_running_its_build(place: Place) -> None:
    place.wheel("tiny", "1.0")
    place.write(
        **{
            "pyproject.toml": '[build-system]\nrequires = ["gone"]\nbuild-backend = "gone"\n'
            '[project]\nname = "my-app"\nversion = "3.2"\ndependencies = ["tiny"]\n'
            '[project.scripts]\nmy-app = "my_app.main:run"\n',
            "src/my_app/__init__.py": "",
            "src/my_app/main.py": "def run():\n    import tiny\n    print('ran with', tiny.version)\n",
        }
    )
    workspace = place.checkout()

    made = place.environments().for_checkout(workspace)

    assert made.problem == ""
    assert place.says(workspace, made, "from importlib.metadata import version; print(version('my-app'))") == "3.2"
    assert place.run(workspace, made, "my-app").stdout == "ran with 1.0\n"
    agents = EquippedTerminal(terminal=place.terminal, equipment=made, workspace=workspace, path=place.path)
    command = Command(argv=("my-app",), cwd=workspace.folder, scratch=workspace.scratch)
    assert agents.run(command).stdout == "ran with 1.0\n"
    newer = place.checkout(
        **{"pyproject.toml": (place.repository / "pyproject.toml").read_text().replace("3.2", "3.3")}
    )
    bumped = place.environments().for_checkout(newer)
    assert place.says(newer, bumped, "from importlib.metadata import version; print(version('my-app'))") == "3.3"
    assert place.terminal.count("venv") == 1


def test_an_entry_whose_maker_was_killed_is_made_again_and_its_remains_go(tmp_path: Path) -> None:
    code = """
import sys, time
from pathlib import Path
from milepost.verify.environments.package_cache import Entries

def make(folder):
    (folder / "half").write_text("")
    print("making", flush=True)
    time.sleep(600)

Entries(Path(sys.argv[1])).get("key", make, "making")
"""
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as maker:
        assert maker.stdout is not None
        assert maker.stdout.readline() == b"making\n"
        impatient = Entries(tmp_path, patience_s=0).get("key", lambda _: None, "making")
        maker.send_signal(signal.SIGKILL)

    def whole(folder: Path) -> None:
        assert list(folder.iterdir()) == []
        (folder / "whole").write_text("")

    made = Entries(tmp_path).get("key", whole, "making")

    assert impatient == Failed("another process took too long with the same installation", lasting=False)
    assert isinstance(made, Path)
    assert [path.name for path in made.iterdir()] == ["whole"]
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [made]
    assert Entries(tmp_path).get("key", lambda _: Failed("must not be asked"), "making") == made


def test_an_installation_that_was_stopped_is_tried_again(tmp_path: Path) -> None:
    with WalledTerminal() as stopped, WalledTerminal() as running:
        place = Place(tmp_path, running)
        place.wheel("tiny", "1.0")
        place.write(**{"requirements.txt": "tiny\n"})
        workspace = place.checkout()
        environments = place.environments()
        going = place.terminal._terminal
        place.terminal._terminal = _StopsAt(stopped, "venv")

        first = environments.for_checkout(workspace)
        place.terminal._terminal = going
        second = environments.for_checkout(workspace)

        assert "ended together with the run" in first.problem
        assert second.problem == ""


class _StopsAt:
    """A terminal that is stopped when a command with this word is to be run."""

    def __init__(self, terminal: WalledTerminal, word: str) -> None:
        self._terminal = terminal
        self._word = word

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        if self._word in command.argv:
            self._terminal.stop()
        return self._terminal.run(command, on_line)


def tarball(name: str, version: str) -> bytes:
    held = BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        add(archive, "package/package.json", json.dumps({"name": name, "version": version, "main": "index.js"}))
        add(archive, "package/index.js", f"module.exports = {version!r};\n")
    return held.getvalue()


def add(archive: tarfile.TarFile, path: str, text: str) -> None:
    entry = tarfile.TarInfo(path)
    entry.size = len(text)
    archive.addfile(entry, BytesIO(text.encode()))


def manifest(**more: object) -> str:
    return json.dumps({"name": "app", "version": "1.0.0", **more})


@needs("npm")
def test_packages_of_node_are_installed_once_and_linked_into_the_checkout(place: Place) -> None:
    asked = {"tiny": "file:vendored/tiny.tgz"}
    place.write(**{"package.json": manifest(dependencies=asked), "vendored/README": ""})
    (place.repository / "vendored" / "tiny.tgz").write_bytes(tarball("tiny", "1.0.0"))
    lock = ["npm", "install", "--package-lock-only", "--offline", "--no-audit", "--loglevel=error"]
    subprocess.run(lock, cwd=place.repository, env={"PATH": place.path, "HOME": str(place.root)}, check=True)
    environments = place.environments()
    wanted = [manifest(dependencies=asked, scripts=scripts) for scripts in ({}, {"test": "node app.js"})]
    workspaces = [place.checkout(**{"package.json": text}) for text in wanted]

    made = [environments.for_checkout(workspace) for workspace in workspaces]

    assert [each.problem for each in made] == ["", ""]
    assert place.terminal.count("npm", "ci", "--ignore-scripts") == 1
    assert made[0].origin[-1] == "node_modules installed by npm, without the install scripts of packages"
    for workspace, equipment in zip(workspaces, made, strict=True):
        result = place.run(workspace, equipment, "node", "-e", "console.log(require('tiny'))")
        assert result.stdout == "1.0.0\n", result.stderr


@needs("npm")
def test_a_workspace_whose_own_lock_is_stale_is_installed_and_one_that_an_attempt_made_stale_is_not(
    place: Place,
) -> None:
    place.write(
        **{
            "package.json": manifest(workspaces=["packages/*"], dependencies={"tiny": "file:vendored/tiny.tgz"}),
            "packages/a/package.json": json.dumps({"name": "a", "version": "1.0.0", "main": "i.js"}),
            "packages/a/i.js": "module.exports = 'a'\n",
            "vendored/README": "",
        }
    )
    (place.repository / "vendored" / "tiny.tgz").write_bytes(tarball("tiny", "1.0.0"))
    lock = ["npm", "install", "--package-lock-only", "--offline", "--no-audit", "--loglevel=error"]
    subprocess.run(lock, cwd=place.repository, env={"PATH": place.path, "HOME": str(place.root)}, check=True)
    asking = {"packages/b/package.json": json.dumps({"name": "b", "version": "1.0.0", "dependencies": {"a": "1.0.0"}})}

    blamed = place.environments().for_checkout(place.checkout(**asking))
    place.write(**asking)
    workspace = place.checkout()
    excused = place.environments().for_checkout(workspace)

    assert "npm exit 1" in blamed.problem
    assert excused.problem == "" and "without package-lock.json, which is out of date" in excused.origin[-1]
    told = place.run(workspace, excused, "node", "-e", "console.log(require('tiny'), require('a'))")
    assert told.stdout == "1.0.0 a\n", told.stderr


@needs("npm")
def test_what_a_command_did_to_linked_packages_is_undone_before_the_next(place: Place) -> None:
    place.write(**{"package.json": manifest(devDependencies={"tiny": "1.0.0"})})
    write(
        place.repository, {"node_modules/tiny/index.js": "module.exports = 'honest'", "node_modules/@a/b/index.js": ""}
    )
    workspace = place.checkout()
    equipment = place.environments().for_checkout(workspace)
    attack = """
const fs = require('fs');
fs.rmSync('node_modules', {recursive: true});
fs.mkdirSync('node_modules/other', {recursive: true});
fs.mkdirSync('node_modules/tiny');
fs.writeFileSync('node_modules/tiny/index.js', 'module.exports = "forged"');
"""

    attacked = place.run(workspace, equipment, "node", "-e", attack)
    after = place.run(workspace, equipment, "node", "-e", "console.log(require('tiny'), require.resolve('@a/b'))")

    assert attacked.succeeded, attacked.stderr
    assert after.stdout == f"honest {place.repository}/node_modules/@a/b/index.js\n"
    assert sorted(path.name for path in (workspace.folder / "node_modules").iterdir()) == ["@a", "tiny"]
    assert equipment.origin[-1] == "existing node_modules"


@needs("npm")
def test_packages_of_a_workspace_are_those_of_the_checkout_and_not_of_the_user(place: Place) -> None:
    place.write(
        **{
            "package.json": manifest(workspaces=["packages/*"], devDependencies={"lib": "*"}),
            "packages/lib/package.json": json.dumps({"name": "lib", "version": "1.0.0"}),
            "packages/lib/index.js": "module.exports = 'of the user'",
        }
    )
    (place.repository / "node_modules").mkdir()
    (place.repository / "node_modules" / "lib").symlink_to("../packages/lib")
    workspace = place.checkout(**{"packages/lib/index.js": "module.exports = 'of the checkout'"})

    own = place.environments().for_checkout(workspace)
    result = place.run(workspace, own, "node", "-e", "console.log(require('lib'))")

    assert result.stdout == "of the checkout\n", result.stderr
    changed = place.checkout(
        **{
            "packages/lib/index.js": "module.exports = 'of the checkout'",
            "packages/more/package.json": json.dumps(
                {"name": "more", "version": "1.0.0", "dependencies": {"lib": "*"}}
            ),
        }
    )
    made = place.environments().for_checkout(changed)
    assert made.problem == ""
    assert place.run(changed, made, "node", "-e", "console.log(require('lib'))").stdout == "of the checkout\n"


@needs("npm")
def test_a_lock_that_leads_elsewhere_or_to_another_package_is_not_followed(place: Place) -> None:
    usual = "https://registry.npmjs.org"
    place.write(**{"package.json": manifest(devDependencies={"jest": "1.0.0"})})

    def problem(resolved: str) -> str:
        lock = {"lockfileVersion": 3, "packages": {"node_modules/jest": {"version": "1.0.0", "resolved": resolved}}}
        return place.environments().for_checkout(place.checkout(**{"package-lock.json": json.dumps(lock)})).problem

    assert "evil.example" in problem("https://evil.example/jest/-/jest-1.0.0.tgz")
    assert "evil-jest-1.0.0.tgz as jest" in problem(f"{usual}/evil-jest/-/evil-jest-1.0.0.tgz")
    assert "npmrc" in place.environments().for_checkout(place.checkout(**{".npmrc": "node-options=--import=x"})).problem
    assert place.terminal.count("npm") == 0


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """A registry of crates on this machine that holds one, `tiny`."""
    held = BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        add(archive, "tiny-1.0.0/Cargo.toml", '[package]\nname = "tiny"\nversion = "1.0.0"\nedition = "2021"\n')
        add(archive, "tiny-1.0.0/src/lib.rs", "pub fn version() -> u8 { 1 }\n")
    files = tmp_path / "registry"
    sum_of = hashlib.sha256(held.getvalue()).hexdigest()
    known = {"name": "tiny", "vers": "1.0.0", "deps": [], "cksum": sum_of, "features": {}, "yanked": False}
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(files))) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        write(
            files,
            {
                "config.json": json.dumps({"dl": f"{address}/{{crate}}-{{version}}.crate"}),
                "ti/ny/tiny": json.dumps(known),
                "tiny-1.0.0.crate": held.getvalue(),
            },
        )
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"sparse+{address}/"
        server.shutdown()
        thread.join()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: the requests are nobody's business."""


@needs("cargo")
def test_crates_are_fetched_once_and_built_in_scratch_without_the_network(place: Place, registry: str) -> None:
    mirror = f'[source.crates-io]\nreplace-with = "mirror"\n[source.mirror]\nregistry = "{registry}"\n'
    write(place.root / "home", {".cargo/config.toml": mirror})
    place.write(
        **{
            "Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ntiny = "1"\n',
            "src/lib.rs": "#[test]\nfn holds() { assert_eq!(tiny::version(), 1); }\n",
        }
    )
    cargo_home = place.root / "home" / ".cargo"
    lock = {**os.environ, "CARGO_HOME": str(cargo_home), "RUSTUP_HOME": _rustup_home()}
    subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=place.repository, env=lock, check=True)
    workspace = place.checkout()

    equipment = place.environments().for_checkout(workspace)
    again = place.environments().for_checkout(place.checkout())
    result = place.run(workspace, equipment, "cargo", "test", "--quiet")

    assert equipment.origin == ("crates downloaded by cargo",), equipment.problem
    assert again.readable == equipment.readable
    assert place.terminal.count("fetch") == 1
    assert result.succeeded, result.stderr + result.error
    assert (workspace.scratch / "cargo-target").is_dir()
    assert not (workspace.folder / "target").exists()


def _rustup_home() -> str:
    return os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup")


def test_a_command_runs_in_a_folder_of_the_checkout_and_in_no_other(place: Place) -> None:
    place.write(**{"sub/mark": "", "top": ""})
    workspace = place.checkout()
    (workspace.folder / "out").symlink_to(place.repository)
    bench = Bench(terminal=place.terminal, path=place.path, redact=lambda text: text.replace("secret", "***"))
    lines: list[str] = []

    inside = bench.run(
        ("sh", "-c", "ls; echo a secret > ../top; cat ../top"),
        workspace,
        cwd="sub",
        on_line=lambda line: lines.append(line.text),
    )
    outside = [bench.run(("touch", "x"), workspace, cwd=folder) for folder in ("out", "..", "nowhere")]

    assert inside.stdout == "mark\na ***\n"
    assert lines == ["mark", "a ***"]
    assert [result.termination for result in outside] == ["not_started"] * 3
    assert bench.run(("sleep", "60"), workspace, timeout_s=0.2).termination == "timeout"
    assert not (place.repository / "x").exists()


def test_a_python_package_for_one_run_lies_beside_the_environment(place: Place, tmp_path: Path) -> None:
    place.wheel("tiny", "2.0")
    workspace, environments, folder = place.checkout(README="x"), place.environments(), tmp_path / "one-run"
    before = environments.for_checkout(workspace)
    folder.mkdir()

    made = environments.with_package(before, "python", "tiny", folder)

    assert isinstance(made, Equipment), made
    assert place.says(workspace, made, "import tiny; print(tiny.version)") == "2.0"
    assert not place.run(workspace, before, "python3", "-c", "import tiny").succeeded
    folder = tmp_path / "another-run"
    folder.mkdir()
    missing = environments.with_package(before, "python", "no-such-thing", folder)
    assert isinstance(missing, Failed) and "no-such-thing" in missing.reason


@needs("npm")
def test_a_node_package_for_one_run_is_found_without_node_modules_in_the_checkout(place: Place, tmp_path: Path) -> None:
    archive, folder = place.wheels / "tiny.tgz", tmp_path / "one-run"
    archive.write_bytes(tarball("tiny", "1.0.0"))
    folder.mkdir()
    (place.root / "home/.npmrc").write_text(f"; packages are in {place.wheels}\n")
    workspace, environments = place.checkout(README="x"), place.environments()

    made = environments.with_package(environments.for_checkout(workspace), "node", str(archive), folder)

    assert isinstance(made, Equipment), made
    assert place.run(workspace, made, "node", "-e", "console.log(require('tiny'))").stdout == "1.0.0\n"
    assert not (workspace.folder / "node_modules").exists()
