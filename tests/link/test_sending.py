"""What arrives of a picture: real bytes, the right part, and where things are in it."""

from __future__ import annotations

import io

import cv2
import numpy as np
import pytest
from formula_pictures import sample
from PIL import Image, ImageDraw, ImageFont

from mmrag.files.images import LazyImage
from mmrag.records import Capture, Reference, Session, Turn
from simulator.link.device_profiles import DeviceProfile, read_links, shipped
from simulator.link.sending import MARGIN, send
from simulator.run.capture_optics import CaptureOptics
from simulator.run.gaze import gaze_of

PLAIN = DeviceProfile(bytes_per_second=1000, capture=(4000, 4000), longest=160)
BOX = (100.0, 60.0, 200.0, 160.0)


def decoded(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)))


def test_whole_is_the_cameras_file_to_the_byte() -> None:
    image, _ = sample(2, (320, 240))
    sent = send(image, PLAIN, "whole", None, key="k")
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "jpeg", quality=PLAIN.capture_quality)
    assert sent.data == buffer.getvalue()
    assert sent.record["bytes"] == len(sent.data) == sent.record["camera_bytes"]
    assert sent.record["seconds"] == pytest.approx(len(sent.data) / 1000)


@pytest.mark.parametrize("kind", ["jpeg", "webp", "avif"])
def test_downscaled_is_as_large_as_the_profile_says(kind: str) -> None:
    image, _ = sample(2, (320, 240))
    profile = DeviceProfile(bytes_per_second=1000, longest=160, format=kind)
    sent = send(image, profile, "downscaled", None, key="k")
    assert Image.open(io.BytesIO(sent.data)).format == kind.upper()
    assert decoded(sent.data).shape == (120, 160, 3)
    assert sent.record["bytes"] < sent.record["camera_bytes"]


def test_a_smaller_camera_takes_a_smaller_picture_and_enlarges_none() -> None:
    image, _ = sample(2, (320, 240))
    small = DeviceProfile(bytes_per_second=1000, capture=(120, 160))
    assert decoded(send(image, small, "whole", None, key="k").data).shape == (120, 160, 3)
    assert decoded(send(image, PLAIN, "whole", None, key="k").data).shape == image.shape


def test_the_thing_is_cut_out_with_its_margin() -> None:
    image, _ = sample(2, (320, 240))
    sent = send(image, PLAIN, "thing", BOX, key="k")
    assert sent.record["part"] == [85, 45, 215, 175]  # 15 % of 100 on every side
    there = decoded(sent.data)
    assert there.shape == (130, 130, 3)
    assert np.abs(there.astype(int) - image[45:175, 85:215]).mean() < 12
    matrix = np.reshape(sent.matrix, (3, 3))
    assert matrix @ [85, 45, 1] == pytest.approx([0, 0, 1])
    assert matrix @ [215, 175, 1] == pytest.approx([320, 240, 1])


@pytest.mark.parametrize("policy", ["thing", "text"])
def test_without_a_part_the_whole_is_made_smaller_and_the_record_says_so(policy: str) -> None:
    flat = np.full((240, 320, 3), 90, np.uint8)
    sent = send(flat, PLAIN, policy, None, key="k")
    assert sent.record["fell_back"]
    assert decoded(sent.data).shape == (120, 160, 3)


def test_print_is_found_by_a_detector_and_cut_out() -> None:
    page = Image.new("RGB", (640, 480), (120, 130, 110))
    ImageDraw.Draw(page).text((360, 300), "OPEN 8.30", (10, 10, 10), ImageFont.load_default(32))
    sent = send(np.asarray(page), PLAIN, "text", None, key="k")
    left, top, right, bottom = sent.record["part"]
    assert left < 360 < 500 < right
    assert top < 305 < 330 < bottom
    assert (right - left) * (bottom - top) < 0.5 * 640 * 480


def test_a_burst_keeps_the_sharpest_of_its_frames() -> None:
    image, _ = sample(3, (320, 240))
    shaky = DeviceProfile(bytes_per_second=1000, shake=0.02, frames=8, longest=320)

    def sharpness(policy: str, n: int) -> float:
        gray = cv2.cvtColor(decoded(send(image, shaky, policy, None, key=f"k{n}").data),
                            cv2.COLOR_RGB2GRAY)  # fmt: skip
        return float(cv2.Laplacian(gray, cv2.CV_32F).var())

    one = [sharpness("downscaled", n) for n in range(5)]
    best = [sharpness("burst", n) for n in range(5)]
    assert all(b >= 0.95 * a for a, b in zip(one, best, strict=True))
    assert sum(best) > 1.2 * sum(one)


def test_what_comes_after_the_app_gave_up_is_late() -> None:
    image, _ = sample(2, (320, 240))
    slow = DeviceProfile(bytes_per_second=10, give_up_seconds=15)
    assert send(image, slow, "whole", None, key="k").record["late"]
    assert not send(image, shipped()["phone"], "whole", None, key="k").record["late"]


def session() -> Session:
    image, _ = sample(2, (320, 240))
    turn = Turn(
        index=0, id="t", query="?", reference=Reference(text="r"), gaze=(150 / 320, 110 / 240)
    )
    capture = Capture(image=LazyImage.from_pil(Image.fromarray(image)), focus=BOX)
    return Session(id="s", capture=capture, turns=(turn,))


def test_a_link_is_a_condition_as_a_degradation_is() -> None:
    optics = CaptureOptics(links=read_links("radio:thing"))
    name = "low-light@2+link:radio:thing"
    first, again = (optics.apply(session(), name, 7) for _ in range(2))
    assert (first.degradation, first.capture.image.data) == (name, again.capture.image.data)
    record = first.capture.degraded
    assert record["link"]["bytes"] == len(first.capture.image.data)
    assert record["link"]["about"]["bytes_per_second"] == 100_000
    assert record["steps"][0]["kind"] == "low-light"
    assert optics.apply(session(), "low-light@2", 7).capture.degraded.get("link") is None


def test_gaze_and_box_follow_the_cut() -> None:
    optics = CaptureOptics(links=read_links("radio:thing"))
    sent = optics.apply(session(), "link:radio:thing", 7)
    x, y = gaze_of(sent, sent.turns[0])
    assert (x, y) == pytest.approx((0.5, 0.5), abs=0.01)  # they look at the thing's middle
    x0, _, x1, _ = sent.capture.degraded["box"]
    assert (x1 - x0) / 320 == pytest.approx(1 / (1 + 2 * MARGIN), abs=0.01)


@pytest.mark.proof("time")
def test_a_mixture_is_drawn_before_it_is_sent() -> None:
    optics = CaptureOptics(links=read_links("radio:whole"))
    drawn = {optics.choose(session(), "mix+link:radio:whole", seed) for seed in range(60)}
    assert "link:radio:whole" in drawn
    assert len(drawn) > 2
    assert all(name.endswith("link:radio:whole") for name in drawn)
