"""More about proofs: their JSON, the output of their checks, replaying a milepost or a run.

For example:

    from milepost import proofs

    assert proofs.replay("1.1").same
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.proofs import evidence_to_json as evidence_to_json
    from milepost.api.proofs import logs as logs
    from milepost.api.proofs import replay as replay
    from milepost.api.proofs import replay_run as replay_run
    from milepost.api.proofs import replayed_to_json as replayed_to_json
    from milepost.api.proofs import to_json as to_json
    from milepost.engine.commands.verify import Replayed as Replayed
    from milepost.engine.commands.verify import Verified as Verified
    from milepost.engine.replay.replay import RunReplayed as RunReplayed
    from milepost.engine.replay.replay import TaskReplayed as TaskReplayed
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
