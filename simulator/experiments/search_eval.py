"""Measuring the searches on a world's own questions: what was asked, and what should come back.

Image search: a query's picture should bring a KG picture of the entity asked about. Web search: the
question, with the entity named as its first turn's picture shows it, should bring a page that
answers. `hit@k` is the share of queries with a relevant result among the first k (CRAG-MM calls it
recall), `recall@k` the share of a query's relevant items that are among them; with MRR and nDCG@10
of binary relevance, all by `mmrag.metrics.retrieval`, and 95 % bootstrap intervals over sessions.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mmrag.errors import UsageError
from mmrag.files.images import LazyImage
from mmrag.metrics.measures import measure
from mmrag.metrics.retrieval import Ranking, ranking_measure
from mmrag.metrics.statistics import cluster_bootstrap
from mmrag.protocols import Reranker
from mmrag.records import Session
from mmrag.search.index.open import Index
from mmrag.search.web.rerank import LexicalReranker
from mmrag.search.web.web_search import HybridWebSearch, Mode
from simulator.run.capture_optics import CaptureOptics, parse_degrade
from simulator.world.sessions import capture_of

KS = (1, 5, 10, 30, 50)
_MEASURES = {
    **{f"hit@{k}": f"hit@{k}" for k in KS},
    **{f"recall@{k}": f"recall@{k}" for k in KS},
    "MRR": f"mrr@{max(KS)}",
    "nDCG@10": "ndcg@10",
}
"""Name in the figures → measure (`mmrag.metrics.measures` defines each)."""

_BATCH = 16
_NEAR = 100
_OF_KIND = ", of the kind"

Progress = Callable[[str, int, int], None]


class _Row(NamedTuple):
    """What a KG picture shows."""

    names: frozenset[str]
    kind: str


class SearchCase(NamedTuple):
    """One query's outcome: the ranks (from 1) at which something relevant stood, and its slices."""

    session: str
    ranks: tuple[int, ...]
    relevant: int
    slices: dict[str, str]


def evaluate_searches(
    world: Path,
    index: Index,
    *,
    split: str = "single-turn",
    limit: int = 300,
    conditions: str = "clean",
    what: str = "both",
    seed: int = 0,
    on_progress: Progress = lambda *_: None,
) -> dict[str, Any]:
    """Figures for both searches over a split of a world."""
    if what not in ("images", "web", "both"):
        raise UsageError(f"--what {what}: choose images, web or both.")
    sessions = list(_sessions(world, split, limit))
    if not sessions:
        raise UsageError(f"{world} has no sessions in {split}.")
    figures: dict[str, Any] = {
        "world": world.name,
        "split": split,
        "sessions": len(sessions),
        "index": index.fingerprint,
        "seed": seed,
        "measures": {name: measure(what).formula for name, what in _MEASURES.items()},
    }
    if what != "web" and index.images is not None:
        figures["images"] = image_search_scores(
            world, sessions, index, conditions, seed, on_progress
        )
    if what != "images" and index.web is not None:
        figures["web"] = web_search_scores(world, sessions, index.web, seed, on_progress)
    return figures


def image_search_scores(
    world: Path,
    sessions: Sequence[Session],
    index: Index,
    conditions: str,
    seed: int,
    on_progress: Progress,
) -> dict[str, Any]:
    """Whole picture and regions, under each condition. "of the kind" leaves, of the best 100, those
    of the kind that is asked about, as an agent does that hears "this kettle"."""
    return {
        condition: {
            way: summarise(held, seed)
            for way, held in image_cases(
                world, sessions, index, condition, seed, on_progress
            ).items()
        }
        for condition in parse_degrade(conditions)
    }


def image_cases(
    world: Path,
    sessions: Sequence[Session],
    index: Index,
    condition: str,
    seed: int,
    on_progress: Progress = lambda *_: None,
) -> dict[str, list[SearchCase]]:
    """Way of searching → what came of every session, under one condition."""
    rows, names = _known(index), _names(world)
    ids = [row.names for row in rows]
    ways: dict[str, dict[str, Any]] = {"whole": {"max_regions": 1}, "regions": {}}
    optics = CaptureOptics()
    cases: dict[str, list[SearchCase]] = {f"{way}{of}": [] for of in ("", _OF_KIND) for way in ways}
    for first in range(0, len(sessions), _BATCH):
        on_progress(f"images, {condition}", first, len(sessions))
        some = sessions[first : first + _BATCH]
        pictures = [_seen(optics, session, condition, seed) for session in some]
        for way, options in ways.items():
            hits = index.images.hits(pictures, _NEAR, **options)
            for session, listed in zip(some, hits, strict=True):
                shown = [hit.row for hit in listed]
                kind = _kind(session, rows, names)
                fitting = [row for row in shown if rows[row].kind == kind]
                for name, kept in ((way, shown[: max(KS)]), (f"{way}{_OF_KIND}", fitting)):
                    cases[name].append(_image_case(session, [ids[row] for row in kept], ids, names))
    return cases


def web_search_scores(
    world: Path, sessions: Sequence[Session], web: HybridWebSearch, seed: int, on_progress: Progress
) -> dict[str, Any]:
    """BM25, dense, hybrid, and hybrid with reranking, side by side."""
    answering = _answering(world)
    asked = list(_questions(world, sessions, answering))
    ways = {
        "bm25": _way(web, "bm25", None),
        "dense": _way(web, "dense", None),
        "hybrid": _way(web, "hybrid", None),
        "hybrid+rerank": _way(web, "hybrid", web.reranker or LexicalReranker(web.lexical.rarity)),
    }
    found: dict[str, Any] = {}
    for name, search in ways.items():
        cases: list[SearchCase] = []
        for first in range(0, len(asked), _BATCH):
            on_progress(f"web, {name}", first, len(asked))
            some = asked[first : first + _BATCH]
            results = search.search_text([query for query, *_ in some], max(KS))
            for (_, session, urls, slices), hits in zip(some, results, strict=True):
                ranks = tuple(r for r, hit in enumerate(hits, 1) if hit.url in urls)
                cases.append(SearchCase(session, ranks, len(urls), slices))
        found[name] = summarise(cases, seed)
    return found


def _way(web: HybridWebSearch, mode: Mode, reranker: Reranker | None) -> HybridWebSearch:
    return HybridWebSearch(
        web.vectors, web.rows, web.lexical, web.encoder, mode=mode, reranker=reranker
    )


def summarise(cases: Sequence[SearchCase], seed: int = 0) -> dict[str, Any]:
    """hit@k, recall@k, MRR and nDCG@10 over all cases and by slice."""
    figures: dict[str, Any] = {"queries": len(cases), **_means(cases)}
    figures["interval"] = {f"hit@{k}": _interval(cases, k, seed) for k in (5, 30, 50)}
    groups: dict[str, dict[str, list[SearchCase]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        for slice_name, value in case.slices.items():
            groups[slice_name][value].append(case)
    figures["slices"] = {
        name: {value: {"queries": len(held), **_means(held)} for value, held in sorted(by.items())}
        for name, by in groups.items()
    }
    return figures


def print_figures(figures: dict[str, Any]) -> None:
    """The tables of an evaluation, for reading."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for part in ("images", "web"):
        rows: list[tuple[str, dict[str, Any]]] = []
        if part == "images":
            rows = [(f"{condition}, {way}", summary)
                    for condition, ways in figures.get("images", {}).items()
                    for way, summary in ways.items()]  # fmt: skip
        else:
            rows = list(figures.get("web", {}).items())
        if not rows:
            continue
        table = Table(
            title=f"{part}: {figures['world']}, {figures['split']}",
            box=None,
            pad_edge=False,
            caption="@k is hit@k: a relevant result is among the first k. MRR: mean of 1 / rank of "
            f"the first relevant one, 0 beyond {max(KS)}. recall@k: `--json`.",
        )
        for name in ("way", "queries", *(f"@{k}" for k in KS), "MRR", "nDCG@10"):
            table.add_column(name, justify="left" if name == "way" else "right")
        for name, summary in rows:
            shown = [f"{summary[f'hit@{k}']:.3f}" for k in KS]
            table.add_row(name, str(summary["queries"]), *shown, f"{summary['MRR']:.3f}",
                          f"{summary['nDCG@10']:.3f}")  # fmt: skip
        console.print(table)


def _sessions(world: Path, split: str, limit: int) -> Iterator[Session]:
    from simulator.world.sessions import read_world

    for n, session in enumerate(read_world(world, split, pictures="clean")):
        if limit and n >= limit:
            return
        yield session


def _known(index: Index) -> list[_Row]:
    columns = (index.images.rows.column(name).to_pylist() for name in ("entities", "info"))
    return [
        _Row(frozenset(json.loads(listed)), _type(json.loads(info)))
        for listed, info in zip(*columns, strict=True)
    ]


def _type(info: dict[str, Any]) -> str:
    """The kind on record of a row's first entity."""
    first = next(iter(info.values()), {})
    return str(first.get("type", "")) if isinstance(first, dict) else ""


def _kind(session: Session, rows: Sequence[_Row], entities: dict[str, str]) -> str:
    wanted = entities.get(str(session.turns[0].extra.get("entity_id", "")), "")
    return next((row.kind for row in rows if wanted in row.names), "")


def _seen(optics: CaptureOptics, session: Session, condition: str, seed: int) -> LazyImage:
    """The picture of a session under a condition."""
    return capture_of(optics.apply(session, optics.choose(session, condition, seed), seed)).image


def _image_case(
    session: Session,
    listed: Sequence[frozenset[str]],
    everything: Sequence[frozenset[str]],
    entities: dict[str, str],
) -> SearchCase:
    wanted = entities.get(str(session.turns[0].extra.get("entity_id", "")), "")
    ranks = tuple(rank for rank, names in enumerate(listed, 1) if wanted in names)
    turn = session.turns[0]
    slices = {"view": "egocentric" if capture_of(session).is_ego else "catalogue",
              "domain": turn.domain, "text_clue": str(turn.text_clue)}  # fmt: skip
    return SearchCase(session.id, ranks, sum(wanted in names for names in everything), slices)


def _answering(world: Path) -> dict[str, set[str]]:
    import pyarrow.parquet as pq

    table = pq.read_table(world / "grounding.parquet", columns=["turn_id", "page_url", "label"])
    kinds = _label_names(world / "grounding.parquet")
    found: dict[str, set[str]] = defaultdict(set)
    for row in table.to_pylist():
        label = kinds[row["label"]] if isinstance(row["label"], int) else row["label"]
        if label == "answers":
            found[row["turn_id"]].add(row["page_url"])
    return found


def _label_names(path: Path) -> list[str]:
    import pyarrow.parquet as pq

    meta = json.loads(pq.read_schema(path).metadata[b"huggingface"])
    return meta["info"]["features"]["label"]["names"]


def _questions(
    world: Path, sessions: Sequence[Session], answering: dict[str, set[str]]
) -> Iterator[tuple[str, str, set[str], dict[str, str]]]:
    """Questions that some page answers, each with the name of the thing it is about before it."""
    names = _names(world)
    for session in sessions:
        for turn in session.turns:
            urls = answering.get(turn.id)
            if not urls:
                continue
            name = names.get(str(turn.extra.get("entity_id", "")), "")
            slices = {"query_type": turn.query_type, "dynamism": turn.dynamism,
                      "domain": turn.domain}  # fmt: skip
            yield f"{name}: {turn.query}" if name else turn.query, session.id, urls, slices


def _names(world: Path) -> dict[str, str]:
    import pyarrow.parquet as pq

    table = pq.read_table(world / "entities.parquet", columns=["entity_id", "name"])
    return dict(zip(*(table.column(c).to_pylist() for c in ("entity_id", "name")), strict=True))


def _means(cases: Sequence[SearchCase]) -> dict[str, float]:
    rankings = [_ranking(case) for case in cases]
    return {name: round(_mean(_values(rankings, what)), 4) for name, what in _MEASURES.items()}


def _ranking(case: SearchCase) -> Ranking:
    """Results by their ranks; what is relevant and was not found has none."""
    found = tuple(str(rank) for rank in range(1, max(case.ranks, default=0) + 1))
    lost = (f"lost {n}" for n in range(case.relevant - len(case.ranks)))
    relevant = [*map(str, case.ranks), *lost]
    return Ranking(found=found, gains=dict.fromkeys(relevant, 1.0), relevant_from=1.0)


def _values(rankings: Sequence[Ranking], what: str) -> list[float]:
    """One value per query; where there is nothing to find, nothing was found."""
    return [ranking_measure(measure(what), ranking) or 0.0 for ranking in rankings]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _interval(cases: Sequence[SearchCase], k: int, seed: int) -> list[float | None]:
    """95 % over sessions: turns of one session are not independent."""
    hits = _values([_ranking(case) for case in cases], f"hit@{k}")
    sessions = [case.session for case in cases]
    found = cluster_bootstrap(hits, sessions, resamples=1000, seed=seed)
    return [None if end is None else round(end, 4) for end in (found.low, found.high)]
