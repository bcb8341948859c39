"""Figures for docs/benchmarks/search.md: encoders in halves beside 32 bits. Opt-in: two minutes.

    OMP_NUM_THREADS=1 python scripts/bench/precision.py [WORLD]

Where the machine does not multiply halves natively both are the same, and the script says so.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("world", nargs="?", type=Path, default=Path("assets/mini"))
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    from mmrag.encoders import image_encoders, text_encoders
    from mmrag.encoders.loading import choose_device, choose_dtype
    from mmrag.search.image.regions import crops_of, regions_of
    from mmrag.search.index.sources import open_source
    from simulator.world.sessions import read_world

    print("auto is", choose_dtype(choose_device(), "auto"))
    source = open_source(str(chosen.world))
    pages = [p.text[:1500] for p in itertools.islice(source.pages(0), 96)]
    shelf = [p.image.pil() for p in itertools.islice(source.pictures(0), 400)]
    images = {p: image_encoders.create(f"builtin:precision={p}") for p in ("full", "auto")}
    crops = list[Any]()
    for session in itertools.islice(read_world(chosen.world, "single-turn", pictures="clean"), 8):
        picture = session.capture.image.pil()
        crops += crops_of(picture, regions_of(picture), images["full"].image_size)
    questions = [f"who makes the {p.split()[0]} and when was it founded" for p in pages]
    texts = {p: text_encoders.create(f"minilm:precision={p}") for p in ("full", "auto")}
    for name, held, encode, against in (
        ("40 squares of a picture", crops[:40], lambda p: images[p].encode_crops, None),
        ("320 squares", crops[:320], lambda p: images[p].encode_crops, shelf),
        ("one query", questions[:1], lambda p: texts[p].encode_queries, None),
        ("96 passages", pages, lambda p: texts[p].encode, None),
        ("96 queries", questions, lambda p: texts[p].encode_queries, pages),
    ):
        _beside(name, held, encode, against, chosen.rounds)


def _beside(
    name: str, held: list[Any], encode: Callable[[str], Any], against: Any, rounds: int
) -> None:
    vectors, best = {}, dict.fromkeys(("full", "auto"), float("inf"))
    for _, precision in itertools.product(range(rounds), best):
        began = time.process_time()
        vectors[precision] = encode(precision)(held)
        best[precision] = min(best[precision], time.process_time() - began)
    alike = (vectors["full"] * vectors["auto"]).sum(axis=1)
    said = (
        f"{name}: {best['full'] * 1000:.1f} ms full, {best['auto'] * 1000:.1f} ms auto "
        f"({best['full'] / best['auto']:.2f} x); cosine least {alike.min():.5f}, "
        f"mean {alike.mean():.5f}"
    )
    if against is not None:
        scores = {p: vectors[p] @ encode(p)(against).T for p in best}
        same = (scores["full"].argmax(1) == scores["auto"].argmax(1)).mean()
        off = np.abs(scores["full"] - scores["auto"])
        said += f"; likenesses differ by {off.mean():.4f} (mean), same nearest {same:.3f}"
    print(said, flush=True)


if __name__ == "__main__":
    main()
