"""Search against the public package's own query functions, on one index, in one process.

    python scripts/bench/search.py --rows 70000

The package (cragmm-search-pipeline 0.5.1) is installed without its dependencies into a throw-away
folder; its `image_search` and `CragImageKG` are called as they are. Loading its index fails with
Chroma 1.5.9 above 32,766 rows (`get` with all metadata); the bench reports that instead of a time.
Vectors are synthetic, clustered, unit length. Timings are interleaved: medians of wall time, and
the least processor time of all threads together, which other work on the machine changes less; run
it with OMP_NUM_THREADS=1 for that of one thread. Trust the ratios.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mmrag.search.index.chroma import IMAGES, Batch, open_folder
from mmrag.search.index.row_table import RowTable, write_rows
from mmrag.search.vectors.nearest import ExactVectors, GraphVectors, build_graph

K = 30
BATCH = 512
SINGLES = 32


def clustered(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and queries around common centres."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(n // 60, 10), d)).astype(np.float32)
    pick = rng.integers(len(centres), size=n + BATCH)
    rows = centres[pick] + 0.7 * rng.normal(size=(n + BATCH, d)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows[:n], rows[n:]


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=70_000)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        install(place)
        figures = run(place, given.rows, given.dim, given.rounds)
    print(json.dumps(figures, indent=1))


def install(place: Path) -> None:
    """The public package, without its dependencies."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target"]
    wanted = [str(place / "package"), "cragmm-search-pipeline==0.5.1", "lmdb"]
    subprocess.run([*command, *wanted], check=True)


def pictures(n: int) -> list[dict[str, Any]]:
    """Rows of an image index."""
    return [
        {
            "id": str(i),
            "image_url": f"http://kg/{i}.jpg",
            "entities": json.dumps([f"E{i // 3}"]),
            "info": json.dumps({f"E{i // 3}": {"a": "b" * 40}}),
        }
        for i in range(n)
    ]


def fill(place: Path, rows: list[dict[str, Any]], matrix: np.ndarray) -> None:
    """The rows and their vectors in Chroma, as the package has them."""
    with open_folder(place / "chroma", IMAGES, create=True) as database:
        for first in range(0, len(rows), 5000):
            some = rows[first : first + 5000]
            database.add(
                Batch(
                    [r["id"] for r in some],
                    matrix[first : first + 5000],
                    [{k: v for k, v in r.items() if k != "id"} for r in some],
                    [None] * len(some),
                )
            )


def run(place: Path, n: int, d: int, rounds: int) -> dict[str, Any]:
    matrix, queries = clustered(n, d)
    rows = pictures(n)
    figures: dict[str, Any] = {"rows": n, "dim": d, "k": K, "rounds": rounds}

    fill(place, rows, matrix)
    np.save(place / "vectors.npy", matrix)
    write_rows(place / "r", "images", rows)
    build_graph(matrix, place / "g")

    opening = [timed(lambda: _ready(place, queries)) for _ in range(rounds)]
    figures["open to first result, s"] = {"ours": round(float(np.median(opening)), 4)}
    exact = ExactVectors(np.load(place / "vectors.npy", mmap_mode="r"))
    graph = GraphVectors.open(exact.matrix, place / "g")
    held = RowTable.open(place / "r")

    collection, note = _public(place, figures)
    sys.path.insert(0, str(place / "package"))
    from cragmm_search.image_search_mock_api.image_search import image_search

    def ours(search: Any, some: np.ndarray) -> list[list[dict[str, Any]]]:
        found, _ = search.search(some, K)
        return [held.get(row) for row in found.tolist()]

    ways: dict[str, tuple[Callable[[], Any], int]] = {
        "public package": (
            lambda: [image_search(q, collection, K) for q in queries[:SINGLES]],
            SINGLES,
        ),
        "exact, single": (lambda: [exact.search(q[None], K) for q in queries[:SINGLES]], SINGLES),
        "exact, batch": (lambda: exact.search(queries, K), BATCH),
        "exact, batch, with rows": (lambda: ours(exact, queries), BATCH),
        "graph, single": (lambda: [graph.search(q[None], K) for q in queries[:SINGLES]], SINGLES),
        "graph, batch": (lambda: graph.search(queries, K), BATCH),
        "matrix product": (lambda: queries @ matrix.T, BATCH),
    }
    for work, _ in ways.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in ways}
    busy: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, (work, count) in ways.items():
            cpu = time.process_time()
            times[name].append(timed(work) / count * 1000)
            busy[name].append((time.process_time() - cpu) / count * 1000)
    medians = {name: float(np.median(held_times)) for name, held_times in times.items()}
    least = {name: min(values) for name, values in busy.items()}
    for clock, taken in (("by the clock", medians), ("of the processor", least)):
        figures[f"ms per query {clock}, times as fast as the public package"] = {
            name: (round(value, 4), round(taken["public package"] / value, 2))
            for name, value in taken.items()
        }
    truth = np.argsort(-(queries @ matrix.T), axis=1, kind="stable")[:, :K]
    public = [[int(i) for i, _ in image_search(q, collection, K)] for q in queries[:64]]
    figures["recall@30 against exact"] = {
        "public package": _recall(public, truth[:64]),
        "exact": _recall(exact.search(queries, K)[0].tolist(), truth),
        "graph": _recall(graph.search(queries, K)[0].tolist(), truth),
    }
    figures["notes"] = note
    return figures


def _ready(place: Path, queries: np.ndarray) -> None:
    matrix = np.load(place / "vectors.npy", mmap_mode="r")
    found, _ = ExactVectors(matrix).search(queries[:1], K)
    RowTable.open(place / "r").get(found[0].tolist())


def _public(place: Path, figures: dict[str, Any]) -> tuple[Any, list[str]]:
    """What CragImageKG does at loading: open, modify, read all metadata, parse each."""
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False, is_persistent=True)
    start, notes = time.perf_counter(), list[str]()
    client = chromadb.PersistentClient(path=str(place / "chroma"), settings=settings)
    collection = client.get_collection(IMAGES)
    try:
        known = {}
        for data in collection.get(include=["metadatas"])["metadatas"] or []:
            known.update(json.loads(str(data["info"])))
    except Exception as error:  # what it raises is the finding
        notes.append(f"the package cannot load this index: {str(error)[:120]}")
    collection.query(query_embeddings=[[0.1] * figures["dim"]], n_results=1)
    seconds = time.perf_counter() - start
    figures["open to first result, s"]["public package's steps"] = round(seconds, 3)
    return collection, notes


def _recall(found: list[list[int]], truth: np.ndarray) -> float:
    shared = [len(set(a) & set(b)) / K for a, b in zip(found, truth.tolist(), strict=True)]
    return round(float(np.mean(shared)), 4)


if __name__ == "__main__":
    main()
