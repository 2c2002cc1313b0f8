"""What one guest may reach outside, from its start to its end."""

from __future__ import annotations

import secrets
import socket
from functools import partial

from milepost.core.commands import Network
from milepost.sandbox.egress.allow_list import allow_list
from milepost.sandbox.egress.connect import Outside
from milepost.sandbox.egress.connections import Connections
from milepost.sandbox.egress.log import HostRequest, Log
from milepost.sandbox.egress.proxy import WayOut

_USUAL_PORT_INSIDE = 3128
_NEVER_BY_PROXY = "localhost,127.0.0.1,::1"


class Egress:
    """The way out of one guest whose network is `hosts`; closed with it. `serve` and `forward` are for any thread.

    Where the guest has a network of its own, its listeners are handed over to `serve` and `forward`, and nobody else
    gets to them. Where it shares the host's loopback, `listen` opens a port that asks for credentials.
    """

    def __init__(self, network: Network, *, outside: Outside | None = None) -> None:
        self._log = Log()
        self._connections = Connections()
        self._credentials = f"guest:{secrets.token_urlsafe(24)}"
        self._open_port: int | None = None
        self._way_out = WayOut(
            allowed=allow_list(network.hosts),
            outside=outside or Outside(),
            log=self._log,
            connections=self._connections,
        )

    def listen(self) -> int:
        """Open the proxy on the host's loopback; returns its port, where only this guest is answered."""
        listener = socket.create_server(("127.0.0.1", 0))
        self._open_port = int(listener.getsockname()[1])
        self._connections.accept_on(listener, partial(self._way_out.proxy, credentials=self._credentials))
        return self._open_port

    def serve(self, listener: socket.socket) -> None:
        """Be the proxy on a listener that only the guest can reach; it is closed with this."""
        self._connections.accept_on(listener, self._way_out.proxy)

    def forward(self, listener: socket.socket, port: int) -> None:
        """Connect a listener that only the guest can reach with a port of this machine; it is closed with this."""
        self._connections.accept_on(listener, partial(self._way_out.forward, port=port))

    @property
    def forwarded_ports(self) -> tuple[int, ...]:
        """The ports of this machine's loopback that the guest may reach directly."""
        return self._way_out.allowed.own_ports

    @property
    def port_inside(self) -> int:
        """A port for the proxy in a network of the guest's own, one that is not forwarded."""
        return next(port for port in range(_USUAL_PORT_INSIDE, 65536) if port not in self.forwarded_ports)

    def variables(self, port: int) -> dict[str, str]:
        """What tells programs of a proxy on this port of their loopback."""
        credentials = f"{self._credentials}@" if port == self._open_port else ""
        address = f"http://{credentials}127.0.0.1:{port}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
        exempt = {"NO_PROXY": _NEVER_BY_PROXY, "no_proxy": _NEVER_BY_PROXY}
        return {**dict.fromkeys(names, address), **exempt, "NODE_USE_ENV_PROXY": "1"}

    @property
    def asked(self) -> tuple[HostRequest, ...]:
        """All that was asked for, in its order."""
        return self._log.asked

    @property
    def refused(self) -> tuple[str, ...]:
        """What was refused, each once: `host example.com:443`."""
        return self._log.refused

    def close(self) -> None:
        """End every connection."""
        self._connections.close()

    def __enter__(self) -> Egress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
