"""Gates as values and as JSON; `milepost.waiting_gates` and `milepost.answer_gate` list and answer them.

For example:

    import milepost
    from milepost import gates

    print([gates.to_json(gate) for gate in milepost.waiting_gates()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.gates import accept as accept
    from milepost.api.gates import acceptable as acceptable
    from milepost.api.gates import person as person
    from milepost.api.gates import to_json as to_json
    from milepost.engine.records.gates import Gate as Gate
    from milepost.engine.records.gates import LandedWork as LandedWork
    from milepost.engine.run.answer_held import Acceptable as Acceptable
    from milepost.engine.run.answer_held import AcceptedWork as AcceptedWork
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
