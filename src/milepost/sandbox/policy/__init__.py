"""What a command may do, decided before it runs: from its parsed pieces, the project's lists and the known dangers."""

from milepost.sandbox.policy.audit import Audit as Audit
from milepost.sandbox.policy.decide import Policy as Policy
from milepost.sandbox.policy.decide import decide as decide
from milepost.sandbox.policy.decision import Decision as Decision
from milepost.sandbox.policy.decision import Kind as Kind
from milepost.sandbox.policy.decision import Verdict as Verdict
from milepost.sandbox.policy.rule import Clause as Clause
from milepost.sandbox.policy.rule import clause_of as clause_of
from milepost.sandbox.policy.terminal import PolicedTerminal as PolicedTerminal
from milepost.sandbox.policy.times import TimeClass as TimeClass
from milepost.sandbox.policy.times import Times as Times
from milepost.sandbox.policy.times import time_class as time_class
