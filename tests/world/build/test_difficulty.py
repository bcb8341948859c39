"""The dial: presets, options, and files of shares that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmrag.errors import SpecError, UsageError
from simulator.world.build.request import HARD, LIFE, PRESETS, WAYS, make_difficulty, make_request


def test_the_presets_are_whole() -> None:
    for preset in PRESETS.values():
        assert sum(preset.settled.values()) == pytest.approx(1)
        assert sum(preset.look_alikes.values()) == pytest.approx(1)
        assert tuple(preset.settled) == WAYS
    assert make_request(1).difficulty == LIFE
    assert set(HARD.look_alikes) == {7}


def test_options_change_a_preset_and_its_name() -> None:
    found = make_difficulty("hard", rivals=0, look_alikes=2)
    assert (found.name, found.rivals, found.look_alikes) == ("own", 0, {2: 1.0})
    assert found.settled == HARD.settled
    assert make_difficulty("life", rivals=LIFE.rivals) == LIFE


def test_a_file_of_shares_is_read(tmp_path: Path) -> None:
    path = tmp_path / "shares.yaml"
    path.write_text("settled: {alone: 0.9, ambiguous: 0.1}\nlook_alikes: {0: 0.25, 3: 0.75}\n")
    found = make_difficulty(shares=path)
    assert found.settled == {"alone": 0.9, "ambiguous": 0.1}
    assert found.look_alikes == {0: 0.25, 3: 0.75}
    assert (found.legible, found.name) == (LIFE.legible, "own")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("legible: 0.5\nsettled: {alone: 0.5}\n", r":2: settled: the shares add up to 0.5; let"),
        ("look_alikes: {2: 0.5, 3: 0.6}\n", r":1: look_alikes: the shares add up to 1.1"),
        ("look_alikes: {many: 1}\n", r":1: .*settled, look_alikes, legible or own_traits"),
        ("look_alikes: {40: 1}\n", r":1: look_alikes: give numbers of look-alikes from 0 to 30"),
        ("settled: {luck: 1}\n", r":1: settled: nothing is settled by 'luck'; choose from alone"),
        ("settled: {alone: 1.5, words: -0.5}\n", r":1: settled: a share is 1.5; give"),
        ("\nlegible: most\n", r":2: .*write settled"),
        ("legible: .nan\n", r":1: legible: a share is nan; give one"),
        ("legible: 0.5\nrivals: 3\n", r":2: .*write settled"),
        ("legible: 0.5\nlegible: 0.6\n", r":2: legible is given twice"),
        ("legible:\n", r":1: .*write settled"),
        ("- 1\n", r":1: no shares; write settled"),
        ("", r":1: no shares; write settled"),
        ("a: [\n", r":2: no YAML, .*; write settled"),
        ("a: &b 1\nc: *b\n", r":2: no YAML, an alias \(\*b\).*; write settled"),
    ],
)
def test_a_file_of_shares_that_is_wrong_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "shares.yaml"
    path.write_text(text)
    with pytest.raises(SpecError, match=f"shares.yaml{words}"):
        make_difficulty(shares=path)


def test_no_file_of_shares(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"none.yaml: cannot be read .*give a file of shares"):
        make_difficulty(shares=tmp_path / "none.yaml")


def test_options_out_of_range_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="life and hard"):
        make_difficulty("easy")
    with pytest.raises(UsageError, match="--rivals -1 is out of range; give 0 to 8"):
        make_difficulty(rivals=-1)
    with pytest.raises(UsageError, match="--look-alikes 99 is out of range; give 0 to 30"):
        make_difficulty(look_alikes=99)
    both = tmp_path / "shares.yaml"
    both.write_text("look_alikes: {1: 1}\n")
    with pytest.raises(UsageError, match="both say it"):
        make_difficulty(look_alikes=2, shares=both)
