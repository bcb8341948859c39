"""Which machines a run uses. No part of its settings: it may be resumed on others."""

from __future__ import annotations

from typing import NamedTuple

from mmrag.errors import UsageError

BACKENDS = ("local", "ray")


class Machines(NamedTuple):
    """One process, or a cluster of Ray."""

    backend: str = "local"
    address: str | None = None
    """Of a cluster, as `host:6379` or `auto`; None: `$RAY_ADDRESS`, else one on this machine."""
    workers: int | None = None
    """Processes that hold conversations; None: one per core, no more than conversations at once."""
    stores: int = 1
    """Processes that keep turns, each a file of its own."""
    gpus: float = 0.0
    """Of each worker; 0.25 lets four share one."""

    @property
    def flags(self) -> str:
        """As they stand in a command that goes on with a run; nothing for one process."""
        if self.backend == "local":
            return ""
        given = {"address": self.address, "workers": self.workers}
        more = "".join(f" --{name} {value}" for name, value in given.items() if value is not None)
        return f" --backend {self.backend}{more}"

    @staticmethod
    def read(
        backend: str = "local",
        address: str | None = None,
        workers: int | None = None,
        stores: int | None = None,
        gpus: float | None = None,
    ) -> Machines:
        """What the flags of a command mean.

        >>> Machines.read("ray", workers=4).workers
        4
        """
        if backend not in BACKENDS:
            raise UsageError(f"--backend {backend!r}: there is {' and '.join(BACKENDS)}.")
        given = {"address": address, "workers": workers, "stores": stores, "worker-gpus": gpus}
        for name, value in given.items():
            if value is not None and backend == "local":
                raise UsageError(f"--{name} is for runs on many machines: add --backend ray.")
        if (address or "").startswith("ray://"):
            raise UsageError(
                f"--address {address}: a run is driven from a machine of the cluster. Start it "
                "there: ray job submit --address http://HEAD:8265 -- mmrag run --backend ray …"
            )
        if (workers is not None and workers < 1) or (stores is not None and stores < 1):
            raise UsageError("--workers and --stores are whole numbers from 1 on.")
        if gpus is not None and not 0 <= gpus <= 64:
            raise UsageError("--worker-gpus is a share or a number of GPUs, as 0.25 or 1.")
        return Machines(backend, address, workers, stores or 1, gpus or 0.0)
