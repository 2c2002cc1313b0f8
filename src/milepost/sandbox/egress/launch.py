"""The way out of a guest that may reach some hosts, put into its launch and connected when it stands."""

from __future__ import annotations

import socket
from dataclasses import replace

from milepost.core.commands import TrustLevel
from milepost.sandbox.egress import Egress
from milepost.sandbox.launch import Launch


class Outlet:
    """The proxy of one guest, if its network is one of hosts; closed when the guest is gone.

    `launch` is the one to carry out: it tells the guest where the proxy is.
    """

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self._egress: Egress | None = None
        if launch.network.mode != "hosts":
            return
        self._egress = egress = Egress(launch.network)
        if launch.trust is TrustLevel.SANDBOXED:
            proxy = egress.port_inside
            launch = replace(launch, listen=(proxy, *egress.forwarded_ports))
        else:
            proxy = egress.listen()
            launch = replace(launch, ports=(proxy, *egress.forwarded_ports))
        self.launch = replace(launch, env={**launch.env, **egress.variables(proxy)})

    def connect(self, listeners: list[int]) -> None:
        """Serve on the listeners that stand in the guest's own network, in the order of the launch's `listen`."""
        assert self._egress is not None, "only a guest with a way out has listeners"
        proxy, *forwards = (socket.socket(fileno=listener) for listener in listeners)
        self._egress.serve(proxy)
        for listener, port in zip(forwards, self._egress.forwarded_ports, strict=True):
            self._egress.forward(listener, port)

    @property
    def refused(self) -> tuple[str, ...]:
        """What was asked for and not given."""
        return () if self._egress is None else self._egress.refused

    def close(self) -> None:
        if self._egress is not None:
            self._egress.close()

    def __enter__(self) -> Outlet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
