"""Artifacts that need no building: the files of a commit, and what was built elsewhere."""

import os
import zipfile
from pathlib import Path

import pytest

from milepost.core.errors import ArtifactUnfit, StateUnwritable
from milepost.core.shipping import Artifact, ArtifactKind, TargetSpec
from milepost.ship.folder_digest import folder_digest
from milepost.ship.given_artifact import take_artifact
from milepost.ship.local.installation import installation_of
from milepost.ship.tree_builder import TreeBuilder


def _checkout(folder: Path, **files: str) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref")
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def test_a_tree_is_the_same_artifact_wherever_it_is_checked_out(tmp_path: Path) -> None:
    builder = TreeBuilder(name="shop", commit="c" * 40, tree="t", command=("python3", "app.py"))
    first, second = (
        builder.build(_checkout(tmp_path / name / "in", app_py="print()"), tmp_path / name / "out") for name in "ab"
    )
    assert first.sha256 == second.sha256
    assert (first.kind, first.start, first.version) == (ArtifactKind.TREE, ("python3", "app.py"), "c" * 12)
    assert not (first.path / ".git").exists()


def test_a_tree_with_a_page_is_a_site_and_one_with_nothing_cannot_be_deployed(tmp_path: Path) -> None:
    builder = TreeBuilder(name="shop", commit="c", tree="t")
    assert builder.build(_checkout(tmp_path / "a", index_html="x"), tmp_path / "1").kind is ArtifactKind.STATIC
    with pytest.raises(ArtifactUnfit, match="nothing says how"):
        builder.build(_checkout(tmp_path / "b", app_py="x"), tmp_path / "2")


def test_a_digest_knows_names_content_links_and_what_may_be_run(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    digests = [folder_digest(tmp_path)[0]]
    (tmp_path / "a").chmod(0o755)
    digests.append(folder_digest(tmp_path)[0])
    (tmp_path / "a").rename(tmp_path / "b")
    digests.append(folder_digest(tmp_path)[0])
    (tmp_path / "a").symlink_to("b")
    digests.append(folder_digest(tmp_path)[0])
    assert len(set(digests)) == 4


def test_a_wheel_says_its_name_and_the_one_program_it_installs(tmp_path: Path) -> None:
    wheel = tmp_path / "shop-1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("shop-1.2.dist-info/entry_points.txt", "[console_scripts]\nShop = shop:main\n")
    taken = take_artifact(wheel, tmp_path / "out", commit="c", tree="t")
    assert (taken.kind, taken.name, taken.version, taken.start) == (ArtifactKind.WHEEL, "shop", "1.2", ("Shop",))
    assert taken.path == tmp_path / "out" / wheel.name


def test_a_copy_that_fails_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    checkout = _checkout(tmp_path / "in", app_py="x")
    os.mkfifo(checkout / "pipe")
    with pytest.raises(StateUnwritable, match=r"'in' cannot be copied to '.*files': ") as refused:
        TreeBuilder(name="shop", commit="c", tree="t", command=("x",)).build(checkout, tmp_path / "out")
    assert "\n" not in refused.value.message
    assert not (tmp_path / "out/files").exists()


@pytest.mark.parametrize("name", ["none", "notes.txt", "broken-1-py3-none-any.whl", "broken.tgz"])
def test_what_is_no_artifact_is_refused(tmp_path: Path, name: str) -> None:
    if name != "none":
        (tmp_path / name).write_text("x")
    with pytest.raises(ArtifactUnfit):
        take_artifact(tmp_path / name, tmp_path / "out", commit="c", tree="t")


def test_each_kind_is_installed_and_started_in_its_own_way() -> None:
    home, spec = Path("/r/1"), TargetSpec(name="local", kind="local")

    def artifact(kind: ArtifactKind, path: str, *start: str) -> Artifact:
        return Artifact(
            kind=kind, name="shop", version="1", path=Path(path), sha256="", size=0, tree="", commit="", start=start
        )

    wheel = installation_of(artifact(ArtifactKind.WHEEL, "/shop-1-py3-none-any.whl", "shop"), spec, home)
    assert wheel.steps[0][1:] == ("-m", "venv", "/r/1/files")
    assert wheel.steps[1][0] == "/r/1/files/bin/python"
    assert (wheel.argv, wheel.programs) == (("shop",), Path("/r/1/files/bin"))
    package = installation_of(artifact(ArtifactKind.NPM, "/shop.tgz", "shop"), spec, home)
    assert package.steps == (("npm", "install", "--no-audit", "--no-fund", "--prefix", "/r/1/files", "/shop.tgz"),)
    binary = installation_of(artifact(ArtifactKind.RUST, "/shop", "shop", "--fast"), spec, home)
    assert (binary.argv, binary.programs, binary.copied) == (("shop", "--fast"), Path("/r/1/files"), True)
    site = installation_of(artifact(ArtifactKind.STATIC, "/site"), spec, home)
    assert site.argv[1:] == ("-m", "milepost.ship.local.static_server", "/r/1/files", "{port}")
    tree = installation_of(artifact(ArtifactKind.TREE, "/files", "python3", "app.py"), spec, home)
    assert (tree.argv, tree.folder) == (("python3", "app.py"), Path("/r/1/files"))
    with pytest.raises(ArtifactUnfit, match="does not run images"):
        installation_of(artifact(ArtifactKind.IMAGE, "/image", "shop"), spec, home)
    with pytest.raises(ArtifactUnfit, match="nothing says how shop is started"):
        installation_of(artifact(ArtifactKind.WHEEL, "/w"), spec, home)
