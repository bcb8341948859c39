"""Flags of work on many machines: a cluster for a run, a shard of what is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from mmrag.files.shards import Shard
from simulator.cli.options.settings import PANELS

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
    int | None, typer.Option(min=1, help="Ray: processes that ask.", rich_help_panel=_RUN)
]


def made_shard(text: str | None, work: Callable[[Shard], object]) -> bool:
    """Do one machine's shard, where one is asked for. False: the whole is now to be made, here."""
    if text is None:
        return False
    work(Shard.read(text))
    said = f"shard {text} is done; when all are, call the same command without --shard."
    typer.secho(said, err=True)
    return True
