"""The way out of a guest that may reach some hosts: a proxy outside the sandbox with an allow-list and a log.

The guest says which host it wants, and the proxy looks it up: what was asked for is what is judged, and the address
that is connected to is judged once more. Of a connection through CONNECT only the host is known, not what is said.
"""

from milepost.sandbox.egress.allow_list import allow_list as allow_list
from milepost.sandbox.egress.egress import Egress as Egress
from milepost.sandbox.egress.log import HostRequest as HostRequest
