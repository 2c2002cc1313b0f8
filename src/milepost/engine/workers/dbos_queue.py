"""How a worker gets the workflows that it took: through a queue of DBOS that only it listens to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dbos import DBOS, SetWorkflowID

from milepost.engine.records import dbos_setup
from milepost.engine.records.worker_lease import Worker
from milepost.engine.run import durable

DELIVERY_S = 0.1  # how often a worker looks into its queue


@contextmanager
def joined(url: str, worker: Worker) -> Iterator[None]:
    """DBOS running in this process for a worker, which is given what it took through a queue of its own."""
    rows = dbos_setup.server_engine(url)
    dbos_setup.configure(url.replace("postgresql+psycopg:", "postgresql:"), executor_id=worker.id)
    DBOS.listen_queues([worker.queue])
    try:
        dbos_setup.launch(rows)
        DBOS.register_queue(worker.queue, polling_interval_sec=DELIVERY_S, on_conflict="always_update")
        yield
        DBOS.delete_queue(worker.queue)
    finally:
        DBOS.destroy(workflow_completion_timeout_sec=0)
        durable.close_all()
        rows.dispose()


def deliver(workflow_id: str, worker: Worker, first: Callable[..., Any], *args: Any) -> None:
    """Give a worker a workflow that it took. One that nobody has begun yet is `first`, with these arguments."""
    if DBOS.list_workflows(workflow_ids=[workflow_id], load_input=False, load_output=False):
        DBOS.resume_workflow(workflow_id, queue_name=worker.queue)
        return
    with SetWorkflowID(workflow_id):
        DBOS.enqueue_workflow(worker.queue, first, *args)


def ended(workflow_ids: list[str]) -> frozenset[str]:
    """Those of some workflows whose end is recorded."""
    if not workflow_ids:
        return frozenset()
    found = DBOS.list_workflows(workflow_ids=workflow_ids, status="SUCCESS", load_input=False, load_output=False)
    return frozenset(one.workflow_id for one in found)
