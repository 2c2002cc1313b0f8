"""The user's repository: where it is, where it stands, and how it is moved without surprise."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import NoCommits, NoRepository, StateUnwritable
from milepost.workspace.git import Git, failure, neutral_environment, off_switches

GIT_COMMIT_ONCE = "milepost keeps every task as a commit: run `git init` and commit once, then `milepost init`"

# Signs in a git directory that its user is in the middle of something.
_HALF_DONE = (
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"),
    *("rebase-merge", "rebase-apply", "sequencer", "index.lock"),
)

# A question runs no program, though the user's configuration may name one in their tree, which a commit can change; nor
# is a git directory believed that lies in the tree under another name, which a commit can bring along.
_ASKING = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a commit says made it."""

    name: str
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where the user stands: the branch (empty when detached) and its commit."""

    branch: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A git repository with a working tree, as found from a folder in it."""

    top: Path
    git_dir: Path
    common_dir: Path
    objects: Path
    sha256: bool

    @staticmethod
    def find(folder: Path) -> Repository:
        """The repository that `folder` is in."""
        if shutil.which("git") is None:
            raise NoRepository("git is not installed", "install git 2.38 or newer, then try again")
        words = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"]
        words += ["--git-path", "objects", "--show-object-format"]
        done = _ask(folder, *words)
        if done.returncode != 0:
            if "dubious ownership" in done.stderr:
                raise NoRepository(
                    f"git does not trust {str(folder)!r}: it belongs to another user", _last(done.stderr)
                )
            if "work tree" in done.stderr or "bare repository" in done.stderr:
                raise NoRepository("this repository is bare", "clone it, and run milepost in the clone")
            raise NoRepository("this folder is not in a git repository", GIT_COMMIT_ONCE)
        top, git_dir, common_dir, objects, object_format = done.stdout.rstrip("\n").split("\n")
        return Repository(
            top=Path(top),
            git_dir=Path(git_dir),
            common_dir=Path(common_dir),
            objects=Path(objects).resolve(),
            sha256=object_format == "sha256",
        )

    def position(self) -> Position:
        """Where HEAD is; raises NoCommits in a repository without any."""
        commit = _ask(self.top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if commit.returncode != 0:
            raise NoCommits("this repository has no commit yet", GIT_COMMIT_ONCE)
        branch = _ask(self.top, "symbolic-ref", "--quiet", "--short", "HEAD")
        return Position(branch=_line(branch), commit=_line(commit))

    def first_commit(self, commit: str) -> str:
        """The commit that the history of another began with, following the first parents: the same in every clone."""
        return _line(_ask(self.top, "rev-list", "--max-parents=0", "--first-parent", commit))

    def has_branch(self, name: str) -> bool:
        return _ask(self.top, "show-ref", "--verify", "--quiet", f"refs/heads/{name}").returncode == 0

    def identity(self) -> Identity:
        """Who the user says they are, or a stand-in where git knows nobody."""
        name, email = (self.setting(key) for key in ("user.name", "user.email"))
        return Identity(name=name or "Milepost", email=email or "milepost@localhost")

    def git(self, own_dir: Path, held_fds: tuple[int, ...] = ()) -> Git:
        """The engine's git on this repository; `own_dir` becomes its private git directory."""
        _make_own_dir(own_dir, self)
        return Git(git_dir=self.common_dir, objects=self.objects, own_dir=own_dir, held_fds=held_fds)

    def object_folders(self) -> tuple[Path, ...]:
        """Where the objects are: in a folder of its own, and in those of the repositories that it borrows from."""
        found = [self.objects]
        for folder in found:
            alternates = folder / "info/alternates"
            lines = alternates.read_text(errors="surrogateescape").splitlines() if alternates.is_file() else ()
            borrowed = ((folder / line).resolve() for line in lines if line and not line.startswith("#"))
            found.extend(other for other in borrowed if other not in found)
        return tuple(found)

    def stands_on(self, ref: str) -> bool:
        """True when a working tree of this repository has a branch checked out: moving it would belie that tree."""
        heads = (self.common_dir / "HEAD", *self.common_dir.glob("worktrees/*/HEAD"))
        return any(head.read_text().strip() == f"ref: {ref}" for head in heads if head.is_file())

    def is_clean(self) -> bool:
        """True when no tracked file of the user's tree differs from HEAD and nothing is half-done there."""
        return not self.half_done and self.differing() == ()

    @property
    def half_done(self) -> bool:
        """True while its user is in the middle of something, such as a merge."""
        return any((self.git_dir / name).exists() for name in _HALF_DONE)

    def differing(self) -> tuple[str, ...] | None:
        """The tracked files of the user's tree that differ from HEAD; None where git does not say."""
        words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=dirty")
        done = _ask(self.top, *off_switches(self.filters()), *words)
        return tuple(row[3:] for row in done.stdout.split("\0") if row) if done.returncode == 0 else None

    def has_ignored(self, path: str) -> bool | None:
        """Whether the user's tree has the file that git ignores at a path; None where git ignores none there."""
        is_inside = not path.startswith("/") and ".." not in path.split("/")
        if not is_inside or _ask(self.top, "check-ignore", "--quiet", "--", f"./{path}").returncode != 0:
            return None
        return (self.top / path).is_file()

    def tracked(self, path: str) -> tuple[str, ...]:
        """What git tracks at or below a path, in the index or in HEAD, however the path is spelt there."""
        words = ("ls-files", "-z", "--full-name")
        known = _ask(self.top, *words, "--with-tree=HEAD", "--", f":(top,icase,literal){path}")
        if known.returncode != 0:  # no commit yet
            known = _ask(self.top, *words, "--", f":(top,icase,literal){path}")
        if known.returncode != 0:
            raise failure(["ls-files"], known.returncode, known.stderr)
        return tuple(found for found in known.stdout.split("\0") if found)

    def tracked_files(self) -> tuple[str, ...]:
        """The files that git tracks."""
        return tuple(path for path in _ask(self.top, "ls-files", "-z").stdout.split("\0") if path)

    def ignored_files(self) -> tuple[str, ...]:
        """The files of the user's tree that git ignores, those in folders that it ignores as a whole left out."""
        words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        return tuple(path for path in _ask(self.top, *words).stdout.split("\0") if path and not path.endswith("/"))

    def uncommitted(self, path: str) -> str:
        """What keeps a file from being as HEAD has it, in words; empty when it is."""
        words = ("status", "--porcelain", "--ignored", "--untracked-files=all", "--", path)
        asked = _ask(self.top, "--literal-pathspecs", *off_switches(self.filters()), *words)
        if asked.returncode != 0:
            raise failure(["status"], asked.returncode, asked.stderr)
        state = asked.stdout[:2]
        if not state:
            return ""
        return (
            "is not committed yet" if state in ("??", "!!") or state[0] == "A" else "has changes that are not committed"
        )

    def filters(self) -> tuple[str, ...]:
        """Names of the content filters that the user's configuration defines."""
        lines = _ask(self.top, "config", "--name-only", "--get-regexp", r"^filter\.").stdout.splitlines()
        return tuple(sorted({line.removeprefix("filter.").rpartition(".")[0] for line in lines}))

    def setting(self, key: str) -> str:
        """What the user's own git goes by; empty where nobody set it."""
        return _line(_ask(self.top, "config", key))

    def is_on(self, key: str) -> bool:
        """True where the user's own git has a switch on."""
        return _line(_ask(self.top, "config", "--type=bool", key)) == "true"

    def blob_of(self, path: str) -> str:
        """The blob that the user's own git would make of a file that no filter is for; it is not made."""
        return _line(_ask(self.top, *off_switches(self.filters()), "hash-object", "--", path))

    def fast_forward(self, commit: str, held_fds: tuple[int, ...] = ()) -> None:
        """Move the user's branch and tree to `commit`, which must descend from where they are.

        Nothing of the user's is overwritten: a file of theirs in the way, tracked or not, makes git refuse.
        """
        merge = ("merge", "--ff-only", "--no-squash", "--no-autostash", "--no-verify-signatures")
        self.on_tree(*merge, "--no-overwrite-ignore", "--quiet", "--no-stat", commit, held_fds=held_fds)

    def on_tree(
        self, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, held_fds: tuple[int, ...] = ()
    ) -> bytes:
        """Run git on the user's tree, with none of their configuration but the repository's own."""
        place = {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.top), "GIT_OPTIONAL_LOCKS": "1"}
        argv = [*off_switches(self.filters()), "--literal-pathspecs", *words]
        done = subprocess.run(
            ["git", "-C", str(self.top), *argv],
            cwd="/",
            input=stdin,
            capture_output=True,
            env=neutral_environment() | place | dict(env or {}),
            pass_fds=held_fds,
            start_new_session=True,
            check=False,
        )
        if done.returncode != 0:
            raise failure(argv, done.returncode, done.stderr.decode("utf-8", "backslashreplace"))
        return done.stdout

    def snapshot(self, git: Git, own_dir: Path) -> str:
        """The tree of all that is in the user's folder and not ignored; their index and refs are not touched."""
        index = own_dir / "index"
        index.unlink(missing_ok=True)
        env = {"GIT_WORK_TREE": str(self.top), "GIT_INDEX_FILE": str(index)}
        git.plumb("read-tree", self.position().commit, env=env)
        ignoring = ("-c", f"core.excludesFile={self.common_dir / 'info/exclude'}")
        git.plumb(*ignoring, "add", "--all", "--ignore-errors", "--", ".", env=env)
        return git.plumb("write-tree", env=env)

    def uses_filters(self, commit: str) -> bool:
        """True when files of `commit` ask for a content filter, which only the user's own git may run."""
        if not self.filters():
            return False
        found = _ask(self.top, "grep", "-qE", "filter=", commit, "--", ":(glob)**/.gitattributes")
        if found.returncode == 0:
            return True
        changed = _ask(self.top, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD", commit).stdout
        asked = _ask(self.top, "check-attr", "-z", "--stdin", "filter", stdin=changed).stdout.split("\0")
        return any(value not in ("unspecified", "unset") for value in asked[2::3])

    def is_filtered(self, path: str) -> bool:
        """True when a file passes through a content filter, which only the user's own git may run."""
        asked = _ask(self.top, "check-attr", "-z", "--stdin", "filter", stdin=path).stdout.split("\0")
        return any(value in self.filters() for value in asked[2::3])


def files_here(top: Path) -> tuple[str, ...] | None:
    """The files of a working tree, tracked or new, without what git ignores; None where git cannot say."""
    if shutil.which("git") is None:
        return None
    asked = _ask(top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return tuple(dict.fromkeys(asked.stdout.rstrip("\0").split("\0"))) if asked.returncode == 0 else None


def _ask(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Put a question to the user's own git, which may read their configuration and change nothing.

    It starts in a folder where no file of the repository tells a shim of that name what to start.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        os.stat(f"{folder}/.")  # noqa: PTH116 - pathlib would leave out the dot, which asks whether it can be entered
        return subprocess.run(
            ["git", "-C", str(folder.absolute()), *_ASKING, *words],
            cwd="/",
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            env=env | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
            check=False,
        )
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise NoRepository(f"{str(folder)!r} cannot be entered: {error.strerror}", "name an existing folder") from error


def _line(answer: subprocess.CompletedProcess[str]) -> str:
    """The line that git answered, as text that can be kept and shown, whatever bytes it was."""
    return answer.stdout.strip().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def own_config(sha256: bool) -> str:
    """The configuration of a git directory of ours: only what git needs to read the objects."""
    config = (
        f"[core]\n\trepositoryformatversion = {int(sha256)}\n\tbare = false\n\tquotepath = false\n[gc]\n\tauto = 0\n"
    )
    return config + ("[extensions]\n\tobjectformat = sha256\n" if sha256 else "")


def _make_own_dir(own_dir: Path, repository: Repository) -> None:
    """Write the private git directory: a HEAD, a configuration and no refs."""
    try:
        (own_dir / "refs").mkdir(parents=True, exist_ok=True)
        (own_dir / "info").mkdir(exist_ok=True)
        (own_dir / "HEAD").write_text("ref: refs/heads/none\n")
        (own_dir / "config").write_text(own_config(repository.sha256))
        shallow = repository.common_dir / "shallow"
        if shallow.exists():
            shutil.copyfile(shallow, own_dir / "shallow")
        else:
            (own_dir / "shallow").unlink(missing_ok=True)
    except OSError as error:
        raise StateUnwritable(
            f"{str(own_dir.parent)!r} cannot be written: {error.strerror}", "make it writable, or free some space"
        ) from error


def _last(text: str) -> str:
    return text.strip().splitlines()[-1].strip() if text.strip() else ""
