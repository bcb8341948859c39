"""index, search, serve: build an index, ask it, measure it, offer it to others."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from mmrag.errors import UsageError
from mmrag.files.shards import Shard
from simulator.cli.options.flags import AsJson
from simulator.cli.options.shard_options import ShardOption, made_shard

IndexFolder = Annotated[Path, typer.Argument(metavar="INDEX", help="Folder of an index.")]
IndexOption = Annotated[Path, typer.Option("--index", help="Folder of an index.")]
Rerank = Annotated[
    str, typer.Option(help="builtin, off, or a spec: cross-encoder:model=NAME-OR-FOLDER (texts).")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    index = typer.Typer(
        help="Indexes: build, eval, info, verify, import, export.", no_args_is_help=True
    )
    for command in (build, info, verify, export):
        index.command()(command)
    index.command("import")(import_)
    index.command("eval")(search_eval)
    app.add_typer(index, name="index")
    app.command()(serve)


def build(
    source: Annotated[str, typer.Argument(help="A world, a folder, or organisation/name.")],
    out: Annotated[Path, typer.Option(help="Folder of the index.")],
    image_encoder: Annotated[str, typer.Option(help="Spec of the image encoder.")] = "builtin",
    text_encoder: Annotated[str, typer.Option(help="Spec of the text encoder.")] = "minilm",
    chunk_tokens: Annotated[int, typer.Option(help="Tokens of a passage.")] = 512,
    overlap: Annotated[int, typer.Option(help="Tokens that neighbours share.")] = 64,
    chroma_url: Annotated[
        str | None, typer.Option(help="A Chroma server; else a folder in the index.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="File that keeps vectors between builds.")
    ] = None,
    views: Annotated[
        bool, typer.Option(help="Index each picture as the mean of four views of it.")
    ] = True,
    shard: ShardOption = None,
    as_json: AsJson = False,
) -> None:
    """Index the pictures and pages of a source. Called again, it resumes."""
    from simulator.terminal.interruption import interruptible

    work = partial(
        _build, source, out, chunk_tokens, overlap, cache, image_encoder=image_encoder,
        text_encoder=text_encoder, chroma_url=chroma_url, views=views,
    )  # fmt: skip
    with interruptible(f"what was built in {out}"):
        if made_shard(shard, work):
            return
        work(None)
    info(out, as_json=as_json)


def _build(
    source: str, out: Path, tokens: int, overlap: int, cache: Path | None, shard: Shard | None,
    **how: Any,
) -> None:  # fmt: skip
    from mmrag.encoders.vector_cache import EmbeddingCache
    from mmrag.passages import Chunker
    from mmrag.search.index.build import build_index
    from mmrag.search.index.sources import open_source
    from simulator.parts import shipped_index
    from simulator.terminal.progress import progress_bars

    chunker = Chunker(tokens=tokens, overlap=overlap)
    kept = EmbeddingCache(cache, shipped_index.vectors())
    with progress_bars() as advance:
        build_index(
            open_source(source), out, chunker=chunker, cache=kept, shard=shard,
            on_progress=advance, **how,
        )  # fmt: skip


def info(folder: IndexFolder, as_json: AsJson = False) -> None:
    """Say what an index holds and how it was made."""
    import msgspec

    from mmrag.search.index.open import read_manifests

    found = [
        {"fingerprint": manifest.fingerprint, **msgspec.to_builtins(manifest)}
        for manifest in read_manifests(folder)
    ]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for part in found:
        typer.echo(f"{part['part']}: {part['rows']:,} rows of {part['dim']} numbers")
        for key in ("fingerprint", "pages", "encoder", "views", "chunker", "chroma_url", "source"):
            if part.get(key):
                typer.echo(f"  {key}: {part[key]}")


def verify(
    folder: IndexFolder,
    repair: Annotated[
        bool, typer.Option("--repair", help="Make derived files again from Chroma.")
    ] = False,
) -> None:
    """Compare every file with its hash, and rows and vectors with Chroma."""
    from mmrag.search.index.open import rebuild_derived, verify_index

    if repair:
        for part in rebuild_derived(folder):
            typer.echo(f"{part}: made again from Chroma")
    wrong = verify_index(folder)
    for line in wrong:
        typer.echo(line)
    if wrong:
        raise typer.Exit(1)
    typer.echo("whole: files, rows and vectors agree with Chroma.")


def import_(
    source: Annotated[Path, typer.Argument(help="A Chroma folder of the public package.")],
    out: Annotated[Path, typer.Option(help="Folder of the index.")],
    image_encoder: Annotated[
        str | None, typer.Option(help="What made its pictures' vectors; else the published one.")
    ] = None,
    text_encoder: Annotated[
        str | None, typer.Option(help="What made its pages' vectors; else the published one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Take over image_embeddings or web_search_embeddings. The source is only read."""
    from mmrag.search.index.public_package_index import import_index

    import_index(source, out, image_encoder=image_encoder, text_encoder=text_encoder)
    info(out, as_json=as_json)


def export(
    folder: IndexFolder, out: Annotated[Path, typer.Argument(help="Folder to write.")]
) -> None:
    """Write an index as the public package reads it."""
    from mmrag.search.index.public_package_index import export_index

    for name in export_index(folder, out):
        typer.echo(f"{name} written to {out}")


def search_eval(
    world: Annotated[Path, typer.Argument(help="A world folder.")],
    index: IndexOption,
    split: Annotated[str, typer.Option(help="multi-turn or single-turn.")] = "single-turn",
    limit: Annotated[int, typer.Option(help="Sessions; 0: all.")] = 300,
    degrade: Annotated[
        str, typer.Option(help="Conditions: none, mix, sweep, or specs such as clean,blurred@3.")
    ] = "clean",
    what: Annotated[str, typer.Option(help="images, web or both.")] = "both",
    rerank: Rerank = "builtin",
    seed: Annotated[int, typer.Option(help="Seed of degradations and intervals.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure hits, recall, MRR and nDCG of both searches on a world's questions, by slice."""
    from mmrag.search.index.open import open_index
    from simulator.experiments.search_eval import evaluate_searches, print_figures
    from simulator.terminal.progress import progress_bars

    opened = open_index(index, reranker=rerank)
    with progress_bars() as advance:
        figures = evaluate_searches(
            world, opened, split=split, limit=limit, conditions=degrade, what=what, seed=seed,
            on_progress=advance,
        )  # fmt: skip
    if as_json:
        typer.echo(json.dumps(figures, indent=2))
    else:
        print_figures(figures)


def serve(
    index: Annotated[Path | None, typer.Option("--index", help="Folder of an index.")] = None,
    crag_kg: Annotated[
        str | None, typer.Option(help="CRAG's mock API over a world: mini, or a world's folder.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another name by which others may call it."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 finds a free one.")] = 8731,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Searches at once.")] = 8,
    seconds: Annotated[float, typer.Option(min=0.1, help="Limit for one search.")] = 30.0,
    megabytes: Annotated[int, typer.Option(min=1, help="Largest request.")] = 16,
) -> None:
    """Offer the searches of an index over HTTP; or CRAG's mock API."""
    from mmrag.local_server import address, listen
    from mmrag.search.index.open import open_index
    from mmrag.search.serving.http_api import Limits, serve_http

    if (index is None) == (crag_kg is None):
        raise UsageError("give either --index FOLDER or --crag-kg WORLD.")
    hosts = [host, *(allow_host or [])]
    if host in ("0.0.0.0", "::") and not allow_host:  # noqa: S104
        typer.echo(
            "Others cannot call it yet: name the address they use with --allow-host.", err=True
        )
    if crag_kg is not None:
        from simulator.parts.toolboxes import open_crag_world
        from simulator.world.crag.kg.server import serve_kg

        stage, _ = open_crag_world(crag_kg)
        with listen(host, port) as at:
            typer.echo(
                f"serving CRAG's mock API over {crag_kg} at {address(at, host)}; Ctrl-C ends it",
                err=True,
            )
            serve_kg(stage, at, hosts)
        return
    assert index is not None
    limits = Limits(concurrency=concurrency, seconds=seconds, bytes=megabytes << 20)
    opened = open_index(index)
    with listen(host, port) as at:
        typer.echo(f"serving {index} at {address(at, host)}; Ctrl-C ends it", err=True)
        serve_http(opened, limits, at, hosts)
