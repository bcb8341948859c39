"""Build a world folder: streamed in parts, by any number of workers, resumable, all or nothing.

The folder appears under its name only when it is whole: until then the parts stand in a hidden
folder beside it, and the same command continues an interrupted build. Every row depends on the
request alone, so neither the number of workers nor an interruption changes a byte.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mmrag.errors import ConflictError, UsageError
from mmrag.files.atomic import OWNER, lock_folder, sync_folder, write_bytes
from mmrag.files.shards import Shard
from simulator.world.build import table_parts, table_rows
from simulator.world.build.table_parts import MANIFEST, SPLITS, TABLES
from simulator.world.build.workers import check_workers, in_processes
from simulator.world.build.world_manifest import (
    dataset_card,
    generator_revision,
    read_manifest,
    write_manifest,
)
from simulator.world.build.world_request import WorldRequest, needed_bytes
from simulator.world.language.voices.voice_reader import voice_identity

Progress = Callable[[str, int, int], None]
"""Stage, parts done, parts in all."""

PART = {
    "entities": 2000, "facts": 1000, "pages": 512, "kg": 64, "multi-turn": 8, "single-turn": 8,
}  # fmt: skip
"""Items per part: minutes of work at most. Part of the format: row groups end where parts do."""

_REQUEST = "request.json"


class BuildTask(NamedTuple):
    """One part to be written."""

    table: str
    number: int


def build(
    request: WorldRequest,
    out: Path,
    *,
    workers: int = 1,
    fresh: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Build the world that is asked for and return its manifest. `fresh` discards what an
    interrupted build left behind instead of continuing it."""
    tell = progress or _silent
    _check_makers(request, workers)
    with _begun(request, out, fresh=fresh, shared=False) as staging:
        plan = _planned(request, tell)
        _write_parts(plan, staging, workers, Shard(1, 1), tell)
        return _finish(plan, staging, out, tell)


def build_shard(
    request: WorldRequest,
    out: Path,
    shard: Shard,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> None:
    """Write one machine's share of the parts into the hidden folder beside `out`.

    `build` finds them there, however many machines wrote them, writes what none did, and joins all
    to the bytes that one machine alone would have made.
    """
    tell = progress or _silent
    _check_makers(request, workers)
    with _begun(request, out, fresh=False, shared=True) as staging:
        _write_parts(_planned(request, tell), staging, workers, shard, tell)


def _check_makers(request: WorldRequest, workers: int) -> None:
    """Refuse to begin with nobody, or with nothing that takes pictures."""
    check_workers(workers)
    if request.pictures:
        from simulator.world.pictures.scene import renderer

        renderer().check()


@contextlib.contextmanager
def _begun(request: WorldRequest, out: Path, *, fresh: bool, shared: bool) -> Generator[Path]:
    """The folder of parts, ours alone or shared with other shards, and of this very request."""
    staging = staging_folder(out)
    _check_target(request, out)
    _check_staging(request, staging, fresh)
    _check_disk(request, out)
    with lock_folder(staging, shared=shared):
        _check_target(request, out)  # again: another process may just have finished it
        if fresh:
            _empty(staging)
        write_bytes(staging / _REQUEST, identity_of(request))
        yield staging


def _planned(request: WorldRequest, tell: Progress) -> table_rows.WorldPlan:
    tell("plan", 0, 1)
    plan = make_plan(request)
    tell("plan", 1, 1)
    return plan


def make_plan(request: WorldRequest) -> table_rows.WorldPlan:
    """Facts, conversations, and which pages and pictures there will be."""
    from simulator.world.facts.generate import generate_facts
    from simulator.world.language.conversations import make_sessions
    from simulator.world.pages.page_orders import plan_pages
    from simulator.world.pictures.kg_pictures import plan_kg_pictures
    from simulator.world.pictures.session_pictures import assign_qualities, is_ego, plan_rivals

    facts = generate_facts(
        request.seed,
        request.entities,
        request.difficulty.look_alikes,
        request.difficulty.own_traits,
    )
    sessions = list(
        make_sessions(
            facts,
            request.voices,
            conversations=request.conversations,
            singles=request.singles,
            legible=request.difficulty.legible,
        )
    )
    multi, single = sessions[: request.conversations], sessions[request.conversations :]
    needs = [need for s in sessions for q in s.questions for need in q.needs]
    return table_rows.WorldPlan(
        request=request,
        facts=facts,
        multi=multi,
        single=single,
        pages=plan_pages(facts, needs, request.voices),
        shots=plan_kg_pictures(facts, [s.entity_id for s in sessions], request),
        specs=assign_qualities(sessions, request.seed),
        company={
            name: company
            for split in (multi, single)
            for name, company in plan_rivals(
                [s for s in split if is_ego(s, request.seed)], facts, request
            ).items()
        },
    )


def staging_folder(out: Path) -> Path:
    """Where the parts of an unfinished build stand."""
    return out.parent / f".{out.name}.building"


def items_of(plan: table_rows.WorldPlan, table: str) -> Sequence[Any]:
    """What a table has a row (or rows) for."""
    if table in ("entities", "facts"):
        return list(plan.facts.entities.values())
    return {
        "pages": plan.pages.orders,
        "kg": plan.shots,
        "multi-turn": plan.multi,
        "single-turn": plan.single,
    }[table]


def write_part(plan: table_rows.WorldPlan, grounder: Any, folder: Path, task: BuildTask) -> None:
    """Write one part. A session part writes the grounding of its turns first."""
    size = PART[task.table]
    first = task.number * size
    items = items_of(plan, task.table)[first : first + size]
    if task.table in SPLITS:
        sessions, grounding = table_rows.session_rows(plan, grounder, items)
        beside = table_parts.part_path(folder, f"grounding-{task.table}", task.number)
        table_parts.write_rows(beside, "grounding", grounding)
        found = sessions
    elif task.table == "facts":
        found = table_rows.fact_rows(plan, items)
    elif task.table == "entities":
        found = table_rows.entity_rows(items)
    elif task.table == "pages":
        found = table_rows.page_rows(plan, items)
    else:
        found = table_rows.kg_rows(plan, first, items)
    table_parts.write_rows(
        table_parts.part_path(folder, task.table, task.number), task.table, found
    )


def _write_parts(
    plan: table_rows.WorldPlan, staging: Path, workers: int, shard: Shard, tell: Progress
) -> None:
    every = [
        BuildTask(table, number)
        for table, size in PART.items()
        for number in range(-(-len(items_of(plan, table)) // size))
    ]
    tasks = [task for place, task in enumerate(every) if shard.has(place)]
    totals = {table: sum(t.table == table for t in tasks) for table in PART}
    left = [t for t in tasks if not _is_done(staging, t)]
    done = {table: n - sum(t.table == table for t in left) for table, n in totals.items()}
    for table, n in totals.items():
        tell(table, done[table], n)
    for task in in_processes(_work, left, workers, _prepare, (plan, staging)):
        done[task.table] += 1
        tell(task.table, done[task.table], totals[task.table])


_state: tuple[table_rows.WorldPlan, Any, Path] | None = None
"""What a worker process works on; set once when it starts."""


def _prepare(plan: table_rows.WorldPlan, staging: Path) -> None:
    global _state
    from simulator.world.pages.grounding_labels import Grounder

    if plan.request.pictures:
        import cv2

        cv2.setNumThreads(1)  # the workers are the parallelism
    _state = (plan, Grounder(plan.facts, plan.pages), staging)


def _work(task: BuildTask) -> None:
    assert _state is not None
    plan, grounder, staging = _state
    write_part(plan, grounder, staging, task)


def _is_done(staging: Path, task: BuildTask) -> bool:
    return (staging / "whole" / f"{task.table}.parquet").exists() or table_parts.part_path(
        staging, task.table, task.number
    ).exists()


def _finish(plan: table_rows.WorldPlan, staging: Path, out: Path, tell: Progress) -> dict[str, Any]:
    """Join the parts, describe the whole, and put it in its place."""
    whole = staging / "whole"
    whole.mkdir(exist_ok=True)
    counts: dict[str, int] = {}
    for done, table in enumerate(TABLES):
        tell("join", done, len(TABLES))
        target = whole / f"{table}.parquet"
        names = [f"grounding-{split}" for split in SPLITS] if table == "grounding" else [table]
        pieces = [p for name in names for p in sorted(staging.glob(f"{name}-[0-9]*.parquet"))]
        if not target.exists():
            table_parts.join_parts(pieces, target, table)
        for piece in pieces:
            piece.unlink()
        counts[target.name] = _rows_in(target)
    begun_by = msgspec.json.decode((staging / _REQUEST).read_bytes(), type=dict[str, Any])
    about = _about(plan, begun_by["generator"])
    write_bytes(whole / "README.md", dataset_card(about, counts).encode())
    manifest = write_manifest(whole, about, counts)
    if out.exists():
        out.rmdir()  # checked to be empty
    whole.rename(out)
    sync_folder(out.parent)
    shutil.rmtree(staging)
    tell("join", len(TABLES), len(TABLES))
    return manifest


def _about(plan: table_rows.WorldPlan, generator: str) -> dict[str, Any]:
    from simulator.world.pictures.scene import renderer

    return {
        "kind": "mmrag-world",
        "seed": plan.request.seed,
        "request": _spelled_out(plan.request),
        "window": plan.facts.window,
        "counts": {
            "conversations": len(plan.multi),
            "turns": sum(len(s.questions) for s in plan.multi),
            "single_turn_questions": len(plan.single),
            "entities": len(plan.facts),
            "kg_pictures": len(plan.shots),
            "pages": len(plan.pages.orders),
        },
        "generator": generator,
        "renderer": renderer().version,
    }


def _rows_in(path: Path) -> int:
    import pyarrow.parquet as pq

    return pq.read_metadata(path).num_rows


def _check_target(request: WorldRequest, out: Path) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise ConflictError(f"{out} is a file; choose another name with --out.")
    if not any(out.iterdir()):
        return
    if not (out / MANIFEST).exists():
        raise ConflictError(f"{out} is not empty and no world; choose another name with --out.")
    there = read_manifest(out)
    same = there.get("request") == _spelled_out(request)
    raise ConflictError(
        f"{out} is already "
        + ("this very world" if same else f"a world of seed {there.get('seed')}")
        + "; choose another name with --out, or remove the folder first."
    )


def _check_staging(request: WorldRequest, staging: Path, fresh: bool) -> None:
    if fresh or not staging.exists():
        return
    try:
        identity = (staging / _REQUEST).read_bytes()
    except FileNotFoundError:
        return  # interrupted before anything was written
    if identity != identity_of(request):
        there = msgspec.json.decode(identity, type=dict[str, Any])
        raise ConflictError(
            f"{staging} holds an interrupted build of seed {there['request']['seed']} with other "
            "options or another version of the generator. Finish it with its own options, or add "
            "--fresh to discard it."
        )


def _check_disk(request: WorldRequest, out: Path) -> None:
    place = out.absolute().parent
    while not place.exists():
        place = place.parent
    free, needed = shutil.disk_usage(place).free, needed_bytes(request)
    if free < needed:
        raise UsageError(
            f"{place} has {free / 1e9:.1f} GB free and this world takes up to "
            f"{needed / 1e9:.1f} GB while it is built. Free space, choose another disk with "
            "--out, or ask for fewer --sessions."
        )


def identity_of(request: WorldRequest) -> bytes:
    """What makes two worlds the same: the request and the code that answers it."""
    return msgspec.json.encode(
        {"request": _spelled_out(request), "generator": generator_revision()}, order="deterministic"
    )


def _spelled_out(request: WorldRequest) -> dict[str, Any]:
    """Every option, defaults too: a default may change one day. A voice of one's own is named by
    its content: where its folder lies says nothing."""
    said = {
        **msgspec.structs.asdict(request),
        "voices": [voice_identity(v) for v in request.voices],
    }
    return msgspec.json.decode(msgspec.json.encode(said))


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name == OWNER:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _silent(stage: str, done: int, total: int) -> None: ...
