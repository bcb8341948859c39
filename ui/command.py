"""`mmrag ui`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mmrag.protocols import Resources


def ui(
    runs: Annotated[
        list[Path] | None, typer.Argument(help="Run folders; else all of ./runs.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 7860,
    data: Annotated[str, typer.Option(help="The world that live agents search.")] = "mini",
    search: Annotated[str, typer.Option(help="Its index, auto or none.")] = "auto",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name by which browsers may call it, besides loopback and --host."),
    ] = None,
    agent: Annotated[list[str] | None, typer.Option(help="Offer this agent spec too.")] = None,
) -> None:
    """Open the Gradio app over one or more runs."""
    import uvicorn

    from mmrag.agents import agents
    from simulator.cli.wiring import make_resources
    from simulator.config import RunConfig
    from ui.catalogue import find_runs, open_catalogues
    from ui.livework import AgentShelf
    from ui.pages.app import LiveSetup
    from ui.server import free_port, in_address, make_server

    def resources() -> Resources:
        return make_resources(RunConfig(data=data, search=search))[0]

    folder = Path("runs")
    # agents that run programs, import modules or call addresses are offered only by name of the
    # operator; a visitor can choose from this list and nothing else
    offered = [
        "grounded",
        *(n for n in ("task1", "task2", "task3", "random") if n in agents.names()),
    ]
    names = list(dict.fromkeys([*(agent or []), *offered]))
    if runs:
        catalogues = open_catalogues(runs)
    else:
        catalogues = open_catalogues(
            find_runs(folder), skip=lambda error: typer.echo(f"left out: {error}", err=True)
        )
    live = LiveSetup(AgentShelf(resources, names), names, folder)
    server = make_server(catalogues, live, [host, *(allow_host or [])])
    place = port or free_port(host)
    typer.echo(f"{len(catalogues)} runs; open http://{in_address(host)}:{place}", err=True)
    if host in ("0.0.0.0", "::") and not allow_host:  # noqa: S104
        typer.echo(
            "Others cannot open it yet: name the address they use with --allow-host.", err=True
        )
    uvicorn.run(server, host=host, port=place, log_level="warning")
