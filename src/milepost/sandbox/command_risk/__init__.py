"""What could do harm that is not easily undone: in a command before it runs, in a change before it lands.

It finds what an honest agent might do by mistake, and asks rather too often. It is no wall against one that hides
what it does: that is the sandbox.
"""

from milepost.sandbox.command_risk.change import danger_of_change as danger_of_change
from milepost.sandbox.command_risk.command import Judged as Judged
from milepost.sandbox.command_risk.command import danger_of as danger_of
from milepost.sandbox.command_risk.command import judged as judged
from milepost.sandbox.command_risk.kinds import Danger as Danger
from milepost.sandbox.command_risk.kinds import DangerKind as DangerKind
