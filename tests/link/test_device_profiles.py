"""Profiles: what ships, one's own, nonsense, and the names of conditions."""

from __future__ import annotations

import re

import numpy as np
import pytest
from PIL import Image as pil

from mmrag.errors import SpecError, Unavailable
from simulator.link.device_profiles import (
    POLICIES,
    DeviceProfile,
    join_condition,
    over_links,
    read_links,
    shipped,
    split_link,
)
from simulator.optics.light.camera_processing import compress_picture
from simulator.run.run_config import RunConfig


def test_every_profile_that_ships_names_its_sources() -> None:
    assert set(shipped()) == {"radio", "stream", "photo", "phone"}
    for profile in shipped().values():
        assert profile.about
        assert "bytes_per_second" in profile.sources
        assert set(profile.sources) <= set(DeviceProfile.__struct_fields__)


def test_seconds_are_the_sum_that_the_profile_declares() -> None:
    radio = shipped()["radio"]
    # 281 kB, MentraOS's crop: 0.4 s to start, 1.0 s of the stage, 281,000 / (100,000 × 0.98) s
    assert radio.seconds(281_000, "text") == pytest.approx(0.4 + 1.0 + 2.867347, abs=1e-5)
    assert radio.seconds(281_000, "whole") == pytest.approx(0.4 + 2.867347, abs=1e-5)
    assert radio.seconds(98_000, "burst") == pytest.approx(0.4 + 4 * 0.1 + 1.0)
    stalls = DeviceProfile(bytes_per_second=1000, stall_seconds=0.7)
    assert stalls.seconds(500, "downscaled") == pytest.approx(0.5 + 0.7)


def test_conditions_are_the_degradations_as_they_are_and_over_each_link() -> None:
    links = read_links("radio:text, photo:whole,radio:text")
    assert links.names == ("radio:text", "photo:whole")
    found = over_links(("clean", "low-light@3"), links)
    assert found == (
        "clean", "low-light@3", "link:radio:text", "low-light@3+link:radio:text",
        "link:photo:whole", "low-light@3+link:photo:whole",
    )  # fmt: skip
    for name in found:
        assert join_condition(*split_link(name)) == name
    assert read_links("none").names == ()
    assert read_links("phone").names == tuple(f"phone:{policy}" for policy in POLICIES)


def test_a_file_of_ones_own_is_another_condition_once_it_says_something_else(tmp_path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("bytes_per_second: 5000\nlongest: 320\n")
    (first,) = read_links(f"{path}:thing").names
    assert first.startswith("mine-")
    assert first.endswith(":thing")
    path.write_text("bytes_per_second: 6000\nlongest: 320\n")
    (second,) = read_links(f"{path}:thing").names
    assert first != second


@pytest.mark.parametrize("name", ["My Phone (2).yaml", "A.yml", "Ärmel_5+.yaml", "+.yaml"])
def test_a_file_of_ones_own_may_have_any_name(tmp_path, name: str) -> None:
    path = tmp_path / name
    path.write_text("bytes_per_second: 1.2e4\n")
    (link,) = read_links(f"{path}:thing").names
    assert re.fullmatch("[a-z0-9-]+:thing", link)
    assert split_link(join_condition("low-light@3", link)) == ("low-light@3", link)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bytes_per_second: 0", "bytes_per_second lies between 1"),
        ("bytes_per_second: .inf", "bytes_per_second lies between"),
        ("bytes_per_second: -3", "bytes_per_second lies between"),
        ("bytes_per_second: .nan", "bytes_per_second lies between"),
        ("bytes_per_second: 9\nloss: 1.0", "loss lies between 0 and 0.99"),
        ("bytes_per_second: 9\ncapture: [1, 100000]", "capture lies between"),
        ("bytes_per_second: 9\nformat: h265", "jpeg, webp or avif"),
        ("bytes_per_second: 9\nframes: 100000", "frames lies between 1 and 30"),
        ("bytes_per_second: fast", "Expected `float`"),
        ("bytes_per_second: 9\nbandwith: 3", "unknown field `bandwith`"),
        ("longest: 320", "bytes_per_second"),
        ("[1, 2]", "Expected `object`"),
        ("", "Expected `object`"),
        ("a: &x [1]\nb: *x", "not YAML"),
    ],
)
def test_nonsense_is_one_line_before_anything_runs(tmp_path, text: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(SpecError) as caught:
        RunConfig(link=str(path))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["avif", "webp"])
def test_a_codec_that_is_missing_is_one_line_before_anything_runs(
    tmp_path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    pil.init()
    monkeypatch.delitem(pil.SAVE, kind.upper())
    (tmp_path / "mine.yaml").write_text(f"bytes_per_second: 9\nformat: {kind}")
    with pytest.raises(Unavailable, match=f"cannot write {kind}: `pip install.*take jpeg"):
        RunConfig(link=str(tmp_path / "mine.yaml"))
    if kind == "avif":
        with pytest.raises(Unavailable, match="cannot write avif"):
            compress_picture(np.zeros((32, 32, 3), np.uint8), 50, 1.0, "avif")
