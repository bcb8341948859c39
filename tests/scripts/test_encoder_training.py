"""What the built-in encoder is trained and tested on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scripts.bench.encoder import ranks
from scripts.encoder_data import Data, Probe, alone_on_paper, over, painted_over
from scripts.encoder_pictures import FAMILIES, QUERY, TESTED, families, look_of, unseen_kinds
from simulator.world.facts.look import KINDS


def test_some_kinds_of_as_many_domains_are_never_trained_on() -> None:
    unseen = unseen_kinds()
    assert unseen == [
        "tower", "textbook_page", "sign", "tree", "packet", "bicycle", "flag", "backpack",
        "handbag",
    ]  # fmt: skip
    assert len({d for d, kinds in KINDS.items() for k in unseen if k in kinds}) == len(unseen)


def test_families_of_training_and_of_the_test_are_others() -> None:
    trained = families(FAMILIES.start, 40, ["mug"])
    assert [f.number for f in trained] == [*range(FAMILIES.start, FAMILIES.start + 40)]
    assert trained[-1].number < TESTED
    assert look_of(trained[0], 1) == look_of(trained[0], 1)
    assert look_of(trained[0], 1) != look_of(trained[0], 2)


def part(colour: int) -> dict[str, np.ndarray]:
    """Two look-alikes: a square of one colour each, the neighbour at the edge."""
    plain = np.full((4, 176, 176, 4), (200, 200, 200, 0), np.uint8)
    plain[:, 50:120, 50:120] = (colour, 30, 30, 255)
    plain[:, 50:120, 150:] = (0, 255, 0, 128)
    ego = np.full((2, 208, 208, 4), (90, 110, 90, 0), np.uint8)
    ego[:, 80:130, 80:130] = (colour, 30, 30, 255)
    return {
        "plain": plain, "plain_of": np.array([0, 1, 0, 1]), "ego": ego, "ego_of": np.array([0, 1]),
        "whole": np.full((1, 216, 162, 4), (90, 110, 90, 0), np.uint8), "whole_of": np.array([-1])
    }  # fmt: skip


def test_a_batch_holds_look_alikes(tmp_path: Path) -> None:
    np.savez(tmp_path / "mug-1.npz", **part(120))
    np.savez(tmp_path / "jar-1.npz", **part(200))
    data = Data(tmp_path, 1, workers=2)
    assert len(data.things) == 4
    assert data.family_of == [0, 0, 1, 1]
    batch = data.batch(2, 64)
    assert sorted(batch.things) == [0, 1, 2, 3]
    assert len(batch.images) == 2 * len(batch.things) + len(batch.whole) + batch.empty
    assert batch.images.shape[1:] == (64, 64, 3)


def test_a_batch_is_filled_from_other_kinds_where_one_has_a_single_family(tmp_path: Path) -> None:
    for kind in ("mug", "jar", "lamp", "hat"):
        np.savez(tmp_path / f"{kind}-1.npz", **part(150))
    assert len(Data(tmp_path, 1).batch(4, 32).things) == 8


def test_neighbours_go_from_the_paper_and_things_from_places() -> None:
    view = part(120)["plain"][0]
    alone = alone_on_paper(view)
    assert alone[80, 160, 1] < 230 < view[80, 160, 1]
    assert (alone[60:110, 60:110] == view[60:110, 60:110]).all()
    place = painted_over(part(120)["ego"][0])
    assert np.abs(place[105, 105, :3].astype(int) - (90, 110, 90)).max() < 12
    put = over(view, np.zeros((176, 176, 3)))
    assert put[80, 80, 0] == 120
    assert put[10, 10].max() == 0


@pytest.mark.parametrize(("above", "there"), [("look-alike", 14 / 2), ("other", 5100 / 2)])
def test_ranks_grow_with_the_gallery_by_what_stands_before_the_thing(
    tmp_path: Path, above: str, there: float
) -> None:
    def save(kind: str, number: int, variants: list[int], queries: int = 0) -> None:
        np.savez(
            tmp_path / f"{kind}-{number}.npz", plain=np.zeros((len(variants), 8, 8, 3), np.uint8),
            plain_of=np.array(variants), ego=np.zeros((queries, 40, 30, 3), np.uint8),
            box=np.tile([5, 5, 20, 20], (queries, 1))
        )  # fmt: skip

    save("mug", TESTED, [QUERY, QUERY, 0, 1], 1)
    save("mug", TESTED + 1, [0])
    save("tree", TESTED + 1, [0, 1])
    test = Probe(tmp_path)
    scores = {"own": 0.5, "look-alike": 0.1, "kind": 0.1, "other": 0.1}
    scores[above] = 0.9
    kinds = {("mug", 0): "look-alike", ("mug", 1): "kind", ("tree", 1): "other"}
    table, raised = np.zeros((1, len(test.rows)), np.float32), False
    for n, (kind, number, variant) in enumerate(test.rows):
        sort = "own" if variant == QUERY else kinds[(kind, number - TESTED)]
        table[0, n] = 0.1 if sort == above and raised else scores[sort]
        raised |= sort == above
    here, estimate = ranks(test, table, 5215)[0]
    assert here == 1
    assert estimate == pytest.approx(there, rel=0.01)
