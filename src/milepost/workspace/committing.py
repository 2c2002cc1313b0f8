"""One file of the user's tree, committed on their branch: nothing else that they changed or staged goes along."""

from __future__ import annotations

from milepost.workspace.repository import Identity, Repository

LONGEST_SUBJECT = 72


def commit_file(repository: Repository, path: str, message: str, held_fds: tuple[int, ...] = ()) -> str:
    """Commit a file as it is on disk; gives the commit."""
    env = _signed(repository.identity())
    repository.on_tree(*commit_words(path), stdin=message.encode(), env=env, held_fds=held_fds)
    return repository.position().commit


def commit_words(path: str) -> tuple[str, ...]:
    """What git is told, with the message on its standard input."""
    return ("commit", "--only", "--quiet", "--no-status", "--cleanup=verbatim", "--file=-", "--", path)


def edit_message(task: str, roadmap: str) -> str:
    """The message of a commit that changes the words of a task and nothing else."""
    subject = f"Edit task {task} in {roadmap}"
    return (subject if len(subject) <= LONGEST_SUBJECT else subject[: LONGEST_SUBJECT - 1] + "…") + "\n"


def _signed(identity: Identity) -> dict[str, str]:
    return {
        "GIT_AUTHOR_NAME": identity.name,
        "GIT_AUTHOR_EMAIL": identity.email,
        "GIT_COMMITTER_NAME": identity.name,
        "GIT_COMMITTER_EMAIL": identity.email,
    }
