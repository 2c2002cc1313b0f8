"""Single files of the user's tree, committed on their branch: nothing else that they changed or staged goes along."""

from __future__ import annotations

from milepost.workspace.repository import Repository

LONGEST_SUBJECT = 72
_CONVERSIONS = ("core.autocrlf", "core.eol", "core.safecrlf", "core.fileMode")


def commit_file(
    repository: Repository, path: str, message: str, held_fds: tuple[int, ...] = (), new: tuple[str, ...] = ()
) -> str:
    """Commit a file as it is on disk, together with `new` ones; gives the commit."""
    if new:
        repository.on_tree(*_conversions(repository), "add", "--force", "--", *new, held_fds=held_fds)
    words = (*_conversions(repository), *commit_words(path, *new))
    repository.on_tree(*words, stdin=message.encode(), env=_people(repository), held_fds=held_fds)
    return repository.position().commit


def refusal(repository: Repository, path: str) -> str:
    """Why the user's own git would commit this file otherwise, in words; empty where it would not."""
    if repository.is_filtered(path):
        return f"{path} goes through a git filter, which only your own git may run"
    if repository.is_on("commit.gpgSign"):
        return "your git signs commits, and only you have the key"
    blob = repository.on_tree(*_conversions(repository), "hash-object", "--", path).decode().strip()
    if blob != repository.blob_of(path):
        return f"your git settings change what is committed of {path}"
    return ""


def commit_words(*paths: str) -> tuple[str, ...]:
    """What git is told, with the message on its standard input."""
    return ("commit", "--only", "--quiet", "--no-status", "--cleanup=verbatim", "--file=-", "--", *paths)


def edit_message(task: str, roadmap: str) -> str:
    """The message of a commit that changes the words of a task and nothing else."""
    subject = f"Edit task {task} in {roadmap}"
    return (subject if len(subject) <= LONGEST_SUBJECT else subject[: LONGEST_SUBJECT - 1] + "…") + "\n"


def _conversions(repository: Repository) -> tuple[str, ...]:
    """What of the user's settings decides which bytes of a file are committed, as words for git."""
    kept = ((key, repository.setting(key)) for key in _CONVERSIONS)
    return tuple(word for key, value in kept if value for word in ("-c", f"{key}={value}"))


def _people(repository: Repository) -> dict[str, str]:
    identity = repository.identity()
    return {
        f"GIT_{role}_{part}": repository.setting(f"{role}.{part}") or default
        for role in ("AUTHOR", "COMMITTER")
        for part, default in (("NAME", identity.name), ("EMAIL", identity.email))
    }
