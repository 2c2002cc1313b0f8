"""Each kind of artifact built twice from a small project, and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from milepost.core.errors import MilepostError, NotProven, PackageFailed
from milepost.core.shipping import ArtifactKind
from milepost.engine.packaging import Packaged, package
from milepost.engine.packaging.sign import sign
from milepost.engine.project.project import Project
from milepost.engine.project.settings.package import PackageSettings
from milepost.sandbox.levels import ladder
from tests.tools import needs, works

pytestmark = pytest.mark.skipif(not ladder()[1].ok, reason="the sandbox cannot be held here")

Make = Callable[[Mapping[str, str]], Project]
_WHEELS = ("build", "hatchling", "setuptools", "wheel")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what builds wheels, which is all that pip is given."""
    folder = tmp_path_factory.mktemp("wheels")
    argv = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", str(folder)]
    try:
        done = subprocess.run([*argv, *_WHEELS], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip("pip cannot fetch what builds wheels")
    if done.returncode != 0:
        pytest.skip("pip cannot fetch what builds wheels")
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def make(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """A repository with these files, committed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))

    def made(files: Mapping[str, str]) -> Project:
        top = tmp_path / "project"
        for name, text in {"ROADMAP.md": "- [ ] 1.1 A\n", **files}.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)
        commit(top)
        return Project.find(top / "ROADMAP.md")

    yield made


def commit(top: Path) -> None:
    own = {"GIT_CONFIG_GLOBAL": os.devnull}
    for words in (("init", "-q"), ("add", "-A"), ("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "W")):
        subprocess.run(["git", *words], cwd=top, check=True, env=os.environ | own)


def refused(project: Project, kind: ArtifactKind) -> MilepostError:
    """What packaging is refused with; nothing is left behind of it."""
    with pytest.raises(MilepostError) as error:
        package(project, kind=kind, unproven=True)
    assert not list((project.state / "artifacts").glob("*"))
    return error.value


def packaged(project: Project, kind: ArtifactKind | None = None) -> Packaged:
    made = package(project, kind=kind, unproven=True)
    assert not list((project.state / "artifacts").glob(".new-*"))
    return made


PYTHON = {
    "durations/__init__.py": "",
    "durations/cli.py": "import sys\n\ndef main():\n    print('usage: durations', sys.argv[1:])\n",
}


def test_a_wheel_is_built_without_touching_the_project_and_called(
    make: Make, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    project = make(PYTHON)
    made = packaged(project)
    assert (made.artifact.kind, made.artifact.name, made.artifact.start) == ("wheel", "durations", ("durations",))
    assert made.ran == "installed in a fresh environment, durations called"
    assert not made.cached
    assert "+build-backend" in made.diff and not (project.repository.top / "pyproject.toml").exists()


def test_a_build_system_that_talks_while_it_is_asked_builds(
    make: Make, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Setuptools prints "running egg_info" before it says what it needs."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    declared = '[build-system]\nrequires = ["setuptools"]\n[project]\nname = "durations"\nversion = "1"\n'
    project = make(PYTHON | {"pyproject.toml": declared + '[project.scripts]\ndurations = "durations.cli:main"\n'})
    assert packaged(project).artifact.start == ("durations",)


SITE = {
    "index.html": '<html><link rel="stylesheet" href="style.css"><script type="module" src="app.js"></script></html>',
    "style.css": "body { color: red }\n" * 30,
    "app.js": 'import "./lib.js"',
    "lib.js": "document.title = 1",
    "secret.toml": "",
}


def test_a_site_is_named_by_content_compressed_and_opened_and_kept_only_while_it_is_whole(make: Make) -> None:
    project = make(SITE)
    made = packaged(project)
    site = made.artifact.path
    assert made.artifact.kind == "static"
    assert made.ran.startswith("page opened in chromium" if shutil.which("chromium") else "page served and fetched")
    assert sorted(re.sub(r"-[0-9a-f]{10}", "-X", file.name) for file in site.iterdir()) == [
        *("app-X.js", "index.html", "lib-X.js", "style-X.css", "style-X.css.gz", "style.css", "style.css.gz")
    ]
    listed = json.loads(site.with_name("site.manifest.json").read_text())["files"]
    assert listed.keys() == {file.name for file in site.iterdir()}
    assert packaged(project).cached

    (site / "index.html").write_text("something else")
    again = packaged(project)
    assert not again.cached, "what is kept is looked at before it is used"
    assert again.artifact.sha256 == made.artifact.sha256, "built once more, it is the same"


def test_a_site_whose_page_loads_what_is_not_there_is_no_artifact(make: Make) -> None:
    problem = refused(make({"index.html": '<html><script src="gone.js"></script></html>'}), ArtifactKind.STATIC)
    assert problem.message.startswith("it was built, but does not run") and "/gone.js" in problem.message


def test_a_commit_without_mileposts_is_not_packaged_as_proven(make: Make) -> None:
    with pytest.raises(NotProven, match="contains no milepost"):
        package(make(SITE))


RUST = {
    "Cargo.toml": '[package]\nname = "tool"\nversion = "1.2.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "tool"\nversion = "1.2.0"\n',
    "src/main.rs": 'fn main() { println!("{}", file!()) }\n',
}


@needs("npm", "node")
def test_an_npm_package_is_packed_with_a_manifest_that_is_generated_and_loaded(make: Make) -> None:
    project = make({"index.js": "module.exports = 1\n", "lib/a.js": "", "notes.txt": ""})
    made = packaged(project, ArtifactKind.NPM)
    assert (made.artifact.name, made.artifact.version) == ("project", "0.1.0")
    assert made.ran == "installed, its main module loaded"
    with tarfile.open(made.artifact.path) as archive:
        assert sorted(archive.getnames()) == ["package/index.js", "package/lib/a.js", "package/package.json"]
    assert not (project.repository.top / "package.json").exists()


@needs("npm", "node")
def test_a_link_in_the_place_of_a_manifest_is_not_written_through(make: Make, tmp_path: Path) -> None:
    (tmp_path / "users-own").write_text("mine")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/package.json").symlink_to(tmp_path / "users-own")
    packaged(make({"index.js": ""}), ArtifactKind.NPM)
    assert (tmp_path / "users-own").read_text() == "mine"


@needs("npm", "node")
def test_an_npm_package_whose_program_does_not_run_is_no_artifact(make: Make) -> None:
    manifest = {"name": "tool", "version": "1.0.0", "bin": "cli.js"}
    program = "#!/usr/bin/env node\nrequire('./gone')\n"
    problem = refused(make({"package.json": json.dumps(manifest), "cli.js": program}), ArtifactKind.NPM)
    assert problem.message.startswith("it was built, but does not run: tool exit 1")


@needs("cargo")
def test_a_rust_program_is_static_and_called(make: Make) -> None:
    project = make(RUST)
    made = packaged(project)
    assert (made.artifact.kind, made.artifact.version, made.artifact.start) == ("rust", "1.2.0", ("tool",))
    assert made.ran == "tool called; static"


@needs("cargo")
def test_an_image_of_a_rust_program_stands_on_nothing_and_is_read_by_others(make: Make, tmp_path: Path) -> None:
    project = make(RUST)
    made = packaged(project, ArtifactKind.IMAGE)
    image = made.artifact
    assert (image.version, image.start) == ("1.2.0", ("/usr/local/bin/tool",))
    assert made.ran == "tool started from its unpacked layers; from scratch"
    assert "+++ b/Dockerfile" in made.diff and not (project.repository.top / "Dockerfile").exists()
    if works("skopeo"):
        argv = ["skopeo", "inspect", "--format", "{{.Digest}}", f"oci:{image.path}:1.2.0"]
        said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        assert said.strip() == f"sha256:{image.sha256}"
    if works("umoci"):
        argv = ["umoci", "unpack", "--rootless", "--image", f"{image.path}:1.2.0", str(tmp_path / "bundle")]
        subprocess.run(argv, check=True)
        assert (tmp_path / "bundle/rootfs/usr/local/bin/tool").is_file()


def script_of(code: str) -> dict[str, str]:
    """An npm package with a script that is run when it is packed."""
    manifest = {"name": "tool", "version": "1.0.0", "main": "index.js", "scripts": {"prepack": "node build.js"}}
    return {"package.json": json.dumps(manifest), "build.js": code, "index.js": ""}


@needs("npm", "node")
def test_what_is_not_the_same_twice_is_no_artifact(make: Make) -> None:
    code = "require('fs').writeFileSync('index.js', `// ${process.hrtime.bigint()}`)"
    problem = refused(make(script_of(code)), ArtifactKind.NPM)
    assert problem.message.startswith("it was built twice from one tree and is not the same: tool-1.0.0.tgz")
    assert "SOURCE_DATE_EPOCH" in problem.advice


@needs("npm", "node")
def test_a_build_that_fails_says_so_with_its_last_lines(make: Make) -> None:
    project, said = make(script_of("console.error('no such planet'); process.exit(3)")), list[str]()
    with pytest.raises(PackageFailed, match="the build failed: npm exit 3"):
        package(project, kind=ArtifactKind.NPM, unproven=True, say=said.append)
    assert any("no such planet" in line for line in said)


PROBE = """
const fs = require("fs"), net = require("net")
const found = {token: process.env.DEPLOY_TOKEN, home: false, network: true}
try { fs.readFileSync(NPMRC); found.home = true } catch {}
try { fs.writeFileSync(OUTSIDE, "x") } catch {}
const done = network => { fs.writeFileSync("index.js", "// " + JSON.stringify({...found, network})) }
net.connect(PORT, "127.0.0.1").on("connect", function () { this.destroy(); done(true) }).on("error", () => done(false))
"""


@needs("npm", "node")
def test_the_projects_build_code_has_no_network_no_variables_and_no_settings_of_the_user(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "s3cr3t-of-the-user")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = tmp_path / "home/.npmrc"
    settings.parent.mkdir()
    settings.write_text("fund=false\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = PROBE.replace("NPMRC", repr(str(settings))).replace("OUTSIDE", repr(str(tmp_path / "left-behind")))
        made = packaged(make(script_of(code.replace("PORT", str(server.getsockname()[1])))), ArtifactKind.NPM)
    with tarfile.open(made.artifact.path) as archive:
        stream = archive.extractfile("package/index.js")
        assert stream is not None
        found = json.loads(stream.read().decode().removeprefix("// "))
    assert found == {"home": False, "network": False}
    assert not (tmp_path / "left-behind").exists()


@needs("npm", "node")
def test_what_a_build_leaves_as_a_link_is_not_followed(make: Make, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    own = "../out/tool-1.0.0.tgz"
    code = f"const fs = require('fs'); fs.unlinkSync('{own}'); fs.symlinkSync('{tmp_path / 'secret'}', '{own}')"
    files = script_of(code)
    files["package.json"] = files["package.json"].replace("prepack", "postpack")
    assert refused(make(files), ArtifactKind.NPM).message == "what was built as 'tool-1.0.0.tgz' is not a plain file"


def test_without_its_tool_a_kind_is_refused_in_a_line_that_names_it(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("git", "python3"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    project = make(RUST)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert refused(project, ArtifactKind.RUST).message == "cargo is needed to build this, and not on PATH"


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_the_provenance_is_signed_with_the_users_key(tmp_path: Path) -> None:
    key, file = tmp_path / "key", tmp_path / "provenance.json"
    file.write_text("{}")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    said: list[str] = []
    assert sign(file, PackageSettings(sign="ssh", key=str(key)), said.append) == "ssh"
    (tmp_path / "allowed").write_text(f"ada {(tmp_path / 'key.pub').read_text()}")
    argv = ["ssh-keygen", "-Y", "verify", "-f", str(tmp_path / "allowed"), "-I", "ada", "-n", "milepost-package"]
    subprocess.run([*argv, "-s", f"{file}.sig"], input=file.read_bytes(), check=True, capture_output=True)
    with pytest.raises(PackageFailed, match="cannot be signed"):
        sign(file, PackageSettings(sign="ssh", key=str(tmp_path / "gone")), said.append)
