"""Search against the public package's own query functions, on one index, in one process.

    python scripts/bench/search.py --rows 70000

The package (cragmm-search-pipeline 0.5.1) is installed without its dependencies into a throw-away
folder; its `image_search` and `CragImageKG` are called as they are. Loading its index fails with
Chroma 1.5.9 above 32,766 rows (`get` with all metadata); the bench reports that instead of a time.
Vectors are synthetic, clustered, unit length. Timings are interleaved: medians of wall time, and
the least processor time of all threads together, which other work on the machine changes less; run
it with OMP_NUM_THREADS=1 for that of one thread. Trust the ratios.

`--memory` measures memory alone, side by side at 30,000 rows, which the package can load: each in a
process of its own, what opening and 512 queries add to what its imports take. Neither has a model.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from mmrag.search.index.chroma import IMAGES
from mmrag.search.index.row_table import RowTable, write_rows
from mmrag.search.vectors.nearest import ExactVectors, GraphVectors, build_graph

K = 30
BATCH = 512
SINGLES = 32
MEMORY_ROWS = 30_000


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
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--held-by", choices=list(HOLDERS), help="used by this script itself")
    parser.add_argument("--place", type=Path, help="used by this script itself")
    given = parser.parse_args()
    if given.held_by:
        print(json.dumps(HOLDERS[given.held_by](given.place)))
        return
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        install(place)
        if given.memory:
            figures = {"rows": MEMORY_ROWS, "dim": given.dim, "memory": memory(place, given.dim)}
        else:
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
    import chromadb

    client = chromadb.PersistentClient(path=str(place / "chroma"))
    database = client.create_collection(IMAGES, metadata={"hnsw:space": "cosine"})
    for first in range(0, len(rows), 5000):
        some = rows[first : first + 5000]
        database.add(
            ids=[r["id"] for r in some],
            embeddings=matrix[first : first + 5000],
            metadatas=[{k: v for k, v in r.items() if k != "id"} for r in some],
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
    figures["page lookup"] = page_lookup(place, rounds)
    figures["notes"] = note
    return figures


def page_lookup(place: Path, rounds: int, *, count: int = 20_000) -> dict[str, Any]:
    """50 pages by what a search found: our rows by number, the package's by its own function.

    The package reads LMDB shards as it publishes them, from the page cache like ours.
    """
    import lmdb
    from cragmm_search.utils import hash_key, lookup_web_content, shard_id

    rng = np.random.default_rng(5)
    text = " ".join(f"word{i}" for i in rng.integers(0, 5000, 300).tolist())
    rows = [
        {"id": f"p{i}", "page_url": f"https://pages.example/{i}", "page_name": f"Page {i}",
         "page_snippet": text[:200], "date": "", "start": 0, "end": len(text), "text": text}
        for i in range(count)
    ]  # fmt: skip
    write_rows(place / "pages", "web", rows)
    held = RowTable.open(place / "pages")
    shards, folder = 16, place / "lmdb"
    folder.mkdir()
    for shard in range(shards):
        base = lmdb.open(str(folder / f"shard_{shard}.mdb"), subdir=False, map_size=1 << 30)
        with base.begin(write=True) as write:
            for row in rows:
                key = hash_key(row["page_url"])
                if shard_id(key, shards) == shard:
                    write.put(key.encode(), json.dumps(row).encode())
        base.close()
    asked = [rng.choice(count, 50, replace=False).tolist() for _ in range(40)]
    urls = [[rows[i]["page_url"] for i in some] for some in asked]

    def package(some: list[str]) -> list[Any]:
        return [lookup_web_content(str(folder), url) for url in some]

    assert held.get(asked[0]) == package(urls[0])
    ways: dict[str, Callable[[], Any]] = {
        "ours": lambda: [held.get(some) for some in asked],
        "public package": lambda: [package(some) for some in urls],
    }
    best = {name: [float("inf")] * 2 for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            cpu = time.process_time()
            spent = [timed(work), time.process_time() - cpu]
            best[name] = [min(pair) for pair in zip(best[name], spent, strict=True)]
    found: dict[str, Any] = {
        f"{name}, ms for 50 (wall, processor)": [round(v / 40 * 1000, 3) for v in values]
        for name, values in best.items()
    }
    pairs = zip(best["public package"], best["ours"], strict=True)
    found["times as fast (wall, processor)"] = [round(theirs / own, 1) for theirs, own in pairs]

    def failures(work: Callable[[Any], list[Any]], all_asked: list[Any]) -> int:
        def fails(some: Any) -> bool:
            try:
                return any(page is None for page in work(some))
            except Exception:  # what it raises is the finding
                return True

        with ThreadPoolExecutor(8) as pool:
            return sum(pool.map(fails, all_asked * 5))

    found["of 200 lookups by 8 threads fail"] = {
        "ours": failures(held.get, asked), "public package": failures(package, urls),
    }  # fmt: skip
    return found


def memory(place: Path, d: int) -> dict[str, Any]:
    """What opening the same rows and 512 queries take, ours and the package's."""
    matrix, queries = clustered(MEMORY_ROWS, d)
    rows = pictures(MEMORY_ROWS)
    np.save(place / "vectors.npy", matrix)
    np.save(place / "queries.npy", queries)
    write_rows(place / "r", "images", rows)
    fill(place, rows, matrix)
    figures: dict[str, Any] = {}
    for holder in HOLDERS:
        asked = [sys.executable, __file__, "--held-by", holder, "--place", str(place)]
        done = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True, cwd=place)
        figures[holder] = json.loads(done.stdout.splitlines()[-1])
    return figures


def held_by_us(place: Path) -> dict[str, Any]:
    """As `open_index` opens the pictures of an index, without their encoder."""
    before = resident()
    search = ExactVectors(np.load(place / "vectors.npy", mmap_mode="r"))
    rows = RowTable.open(place / "r")

    def ask(query: np.ndarray) -> list[Any]:
        return rows.get(search.search(query[None], K)[0][0].tolist())

    return _holding(place, before, ask)


def held_by_package(place: Path) -> dict[str, Any]:
    """The package's own class; only the download from the hub is replaced by the local folder."""
    sys.path.insert(0, str(place / "package"))
    from cragmm_search.image_search_mock_api import image_kg
    from cragmm_search.image_search_mock_api.image_search import image_search

    image_kg.snapshot_download = lambda **_: str(place / "chroma")
    before = resident()
    known = image_kg.CragImageKG(None, None, "here")

    def ask(query: np.ndarray) -> list[Any]:
        found = image_search(query, known.vector_db, K)
        return [
            [known.get_entity(name) for name in known.get_entity_name(int(i))] for i, _ in found
        ]

    return _holding(place, before, ask)


def _holding(
    place: Path, before: dict[str, float], ask: Callable[[np.ndarray], list[Any]]
) -> dict[str, Any]:
    queries = np.load(place / "queries.npy")
    assert len(ask(queries[0])) == K
    opened = resident()
    for query in queries:
        ask(query)
    asked = resident()
    return {
        "imports, MB": before,
        "opened and asked once, MB more": {
            key: round(opened[key] - before[key], 1) for key in before
        },
        f"asked {len(queries)} times, MB more": {
            key: round(asked[key] - before[key], 1) for key in before
        },
    }


def resident() -> dict[str, float]:
    """Memory of this process: what it has by itself, and files that it has mapped."""
    lines = Path("/proc/self/status").read_text().splitlines()
    held = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if "kB" in line}
    return {"own": round(held["RssAnon"], 1), "mapped files": round(held["RssFile"], 1)}


HOLDERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "ours": held_by_us,
    "public package": held_by_package,
}


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
