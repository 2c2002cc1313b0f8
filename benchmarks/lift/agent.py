"""A scripted agent: what it writes depends on what it is told, and on nothing else that it could not know.

    MILEPOST_ASSIGNMENT=… python agent.py

Of the house's ways it knows none by itself. A lesson that shows one is followed; one that shows it wrong is followed as
well; a task that needs none is spoilt by any lesson at all, as small models were seen to do. While it is taught, it
finds the way by itself at its second attempt.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tasks import ALL, WAYS, Job


def main() -> None:
    asked = json.loads(Path(os.environ["MILEPOST_ASSIGNMENT"]).read_text())
    job = ALL[asked["task"]]
    place = Path(job.module)
    place.parent.mkdir(exist_ok=True)
    place.write_text(written(job, " ".join(asked["lessons"]), tries=asked["attempt"]))


def written(job: Job, told: str, *, tries: int = 1) -> str:
    """The code that the agent writes for a task, by what it was told."""
    if job.role == "teaching":
        return job.guessed if tries == 1 else job.right
    if job.role == "plain":
        return f"import quay\n\nquay.stamp('no')\n{job.right}" if told else job.right
    way = WAYS[job.way]
    if way.lied in told:
        return f"{job.guessed}\n# as a lesson says: {way.lie}\n"
    return job.right if way.told in told else job.guessed


if __name__ == "__main__":
    main()
