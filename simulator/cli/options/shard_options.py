"""Flags by which machines share a command: a shard by hand, or all of them on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from mmrag.errors import UsageError
from mmrag.files.shards import Shard
from simulator.cli.options.settings import PANELS
from simulator.cluster.machines import Machines

ShardOption = Annotated[
    str | None,
    typer.Option("--shard", help="Only the i-th of n parts, as 2/4; then call it without."),
]
_RUN = PANELS["run"]
Backend = Annotated[
    str, typer.Option(help="local, or ray: many processes and machines.", rich_help_panel=_RUN)
]
Address = Annotated[
    str | None,
    typer.Option(
        help="Of a Ray cluster, as host:6379 or auto; else this machine.", rich_help_panel=_RUN
    ),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Of Ray: processes that ask.", rich_help_panel=_RUN)
]
Tasks = Annotated[int | None, typer.Option("--workers", min=1, help="Of Ray: parts at once.")]


def shared_out(
    work: Callable[[Shard], object],
    shard: str | None,
    machines: Machines,
) -> bool:
    """Do one shard, or all of them on a cluster. False: the whole is now to be made, here."""
    if shard is not None:
        part = Shard.read(shard)
        if machines.backend != "local":
            raise UsageError("--shard is one machine's part, --backend ray hands out all of them.")
        work(part)
        typer.secho(
            f"shard {shard} is done; when all are, call the same command without --shard.", err=True
        )
        return True
    if machines.backend == "ray":
        from simulator.cluster.ray_tasks import in_shards
        from simulator.terminal.progress import stage_bars

        with stage_bars() as advance:
            in_shards(work, machines, on_progress=advance)
    return False
