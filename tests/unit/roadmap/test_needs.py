"""`Needs:` names labels of workers, a word each; a sentence stays a sentence."""

from __future__ import annotations

import pytest

from milepost.roadmap import read


@pytest.mark.parametrize(
    ("line", "needs"),
    [
        ("Needs: docker", ("docker",)),
        ("Needs: docker, Node22.", ("docker", "node22")),
        ("**Needs:** `docker`", ("docker",)),
        ("Needs: a review by somebody who knows", ()),
        ("Needs: none", ()),
    ],
)
def test_labels_are_read_and_prose_is_left_in_the_text(line: str, needs: tuple[str, ...]) -> None:
    (task,) = read(f"- [ ] T1: build it\n  - {line}\n".encode()).tasks
    assert task.needs == needs
    assert (line in task.text) is not bool(needs)


def test_a_task_needs_what_its_subtasks_need() -> None:
    (task,) = read(b"- [ ] T1: build it\n  - Needs: docker\n  - [ ] part\n    - Needs: gpu, docker\n").tasks
    assert task.needs == ("docker", "gpu")
