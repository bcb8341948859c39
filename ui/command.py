"""`mmrag ui`."""

from __future__ import annotations

import contextlib
import ctypes
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mmrag.errors import Unavailable

if TYPE_CHECKING:
    import socket


def ui(
    runs: Annotated[
        list[Path] | None, typer.Argument(help="Run folders; else all of ./runs.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 7860,
    data: Annotated[str, typer.Option(help="The world that live agents search.")] = "mini",
    search: Annotated[str, typer.Option(help="Its index, auto or none.")] = "auto",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another name by which browsers may call it."),
    ] = None,
    agent: Annotated[list[str] | None, typer.Option(help="Offer this agent spec too.")] = None,
) -> None:
    """Open the Gradio app over one or more runs."""
    from mmrag.local_server import listen

    _need_gradio()
    _check(data, search, agent or [])
    with listen(host, port) as at:
        _open(runs, at, host, data, search, allow_host or [], agent or [])


def bundle(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    out: Annotated[
        Path | None,
        typer.Argument(help="Folder, or one file NAME.html; else RUN-bundle."),
    ] = None,
    report: Annotated[bool, typer.Option(help="Include the report.")] = True,
) -> None:
    """Write a run as a folder, or one file, that opens without Python: replay and report."""
    from simulator.message_text import counted
    from ui.bundle import write_bundle

    target = out or run.absolute().with_name(f"{run.absolute().name}-bundle")
    count = write_bundle(run, target, report=report)
    typer.secho(f"{counted(count, 'conversation')} bundled.", err=True)
    typer.echo(f"bundle: {target if target.is_file() else target / 'index.html'}")


def _need_gradio() -> None:
    try:
        import gradio  # noqa: F401
    except ImportError as error:
        raise Unavailable("the app needs Gradio: pip install 'mmrag[app]'") from error


def _check(data: str, search: str, named: list[str]) -> None:
    """Refuse at the start what would otherwise fail at the first question in Live."""
    from mmrag.search.index.open import read_manifests
    from simulator.parts.named_agents import check_agent
    from simulator.parts.run_parts import Parts
    from simulator.run.run_config import RunConfig

    for spec in named:
        check_agent(spec)
    if search not in ("auto", "none"):
        read_manifests(Path(search))
    if not data.startswith("crag-mm:"):  # those bring no index, and may lie on a hub
        _ = Parts(RunConfig(data=data)).source


def _open(
    runs: list[Path] | None,
    at: socket.socket,
    host: str,
    data: str,
    search: str,
    allow_host: list[str],
    named: list[str],
) -> None:
    from mmrag.agents import agents
    from mmrag.local_server import address, serve
    from simulator.application.person_run import PersonRuns
    from simulator.message_text import counted
    from simulator.parts.agent_resources import cache_folder
    from simulator.parts.run_parts import Parts
    from simulator.run.run_config import RunConfig
    from ui.home.launch import OFFERED, Launcher
    from ui.opened_runs import Runs, open_runs
    from ui.pages.app import LiveSetup
    from ui.server import make_server
    from ui.views.live_view import AgentCache

    @cache
    def made(world: str) -> Parts:
        return Parts(RunConfig(data=world, search=search))

    folder = Path("runs")
    # agents that run programs, import modules or call addresses are offered only by name of the
    # operator; a visitor can choose from this list and nothing else
    names = list(dict.fromkeys([*named, *(n for n in OFFERED if n in agents.names())]))
    opened = open_runs(runs) if runs else Runs(watched=folder)
    launcher = Launcher(folder, names, [data, "mini"], search)
    kept = cache_folder() / "board"
    worlds = list(dict.fromkeys([data, "mini"]))
    shelves = {
        world: AgentCache(lambda world=world: made(world).resources, names) for world in worlds
    }
    playing = PersonRuns(
        folder, lambda spec, world: shelves[world].get(spec), worlds,
        lambda world: made(world).index, search,
    )  # fmt: skip
    live = LiveSetup(shelves[data], names, folder, launcher, kept, data, playing)
    server = make_server(opened, live, [host, *allow_host])
    typer.echo(f"{counted(len(opened), 'run')}; open {address(at, host)}", err=True)
    if host in ("0.0.0.0", "::") and not allow_host:  # noqa: S104
        typer.echo(
            "Others cannot open it yet: name the address they use with --allow-host.", err=True
        )
    _return_freed_memory()
    serve(server, at)


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""`mallopt`'s names for how much may lie free at a heap's end, for the size from which on memory is
given back as soon as it is freed, and for the number of heaps, else eight a core."""


def _return_freed_memory() -> None:
    """Keep a server small between requests: glibc raises both sizes with every large array that is
    freed, and then holds on to tens of megabytes."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_TRIM_THRESHOLD, 4 << 20)
        libc.mallopt(_M_MMAP_THRESHOLD, 4 << 20)
        libc.mallopt(_M_ARENA_MAX, 2)
