"""`Degrade` keeps albumentations' promises: further targets, replay, saving, batches, strict."""

from __future__ import annotations

import json
import warnings
from typing import Any

import cv2
import numpy as np
import pytest

from simulator.optics import degrade
from simulator.optics.files.samples import sample

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import albumentations as A  # noqa: N812

    from simulator.optics.albumentations import Degrade

SPEC = "low-light@3+occluded:finger@2+rotated@2"
SIZE = (160, 120)


def picture(number: int, size: tuple[int, int] = SIZE) -> np.ndarray:
    return sample(number, size)[0]


def box(number: int) -> tuple[float, float, float, float]:
    return sample(number, SIZE)[1]


def boxed(transform: type = A.Compose, spec: str = SPEC, **more: Any) -> Any:
    params = A.BboxParams("pascal_voc", label_fields=["labels"])
    return transform([Degrade(spec)], bbox_params=params, **more)


def test_every_further_picture_is_degraded_itself_and_like_the_first() -> None:
    first, second, other = picture(1), picture(2), box(1)
    both = boxed(additional_targets={"image2": "image", "mask2": "mask"})
    mask = np.zeros(SIZE[::-1], np.uint8)
    mask[30:90, 40:100] = 5
    done = both(
        image=first, image2=second, mask=mask, mask2=mask, bboxes=[other], labels=[0], key="k"
    )
    assert (done["image"] == degrade(first, SPEC, other, key="0/k").image).all()
    assert (done["image2"] == degrade(second, SPEC, other, key="0/k").image).all()
    assert (done["mask"] == done["mask2"]).all()
    again = both(image=first, image2=second, bboxes=[other], labels=[0])  # no key: the first's hash
    turned = boxed(spec="rotated@2", additional_targets={"image2": "image"})
    alike = turned(image=first, image2=first.copy(), bboxes=[other], labels=[0])
    assert (alike["image"] == alike["image2"]).all()
    assert not (again["image"] == again["image2"]).all()


@pytest.mark.parametrize("through_json", [False, True])
def test_a_replay_degrades_the_picture_that_it_is_given(through_json: bool) -> None:
    first, second = picture(1), picture(2)
    done = boxed(A.ReplayCompose)(image=first, bboxes=[box(1)], labels=[0], key="k")
    saved = json.loads(json.dumps(done["replay"])) if through_json else done["replay"]
    same = A.ReplayCompose.replay(saved, image=first, bboxes=[box(1)], labels=[0])
    assert (same["image"] == done["image"]).all()
    assert tuple(same["bboxes"][0]) == pytest.approx(tuple(done["bboxes"][0]))
    other = A.ReplayCompose.replay(saved, image=second, bboxes=[box(2)], labels=[0])
    assert (other["image"] == degrade(second, SPEC, box(1), key="0/k").image).all()


def test_a_replay_on_another_size_keeps_picture_and_labels_together() -> None:
    done = boxed(A.ReplayCompose, "rotated@2")(image=picture(1), bboxes=[], labels=[], key="k")
    larger = picture(3, (320, 200))
    mask = np.zeros((200, 320), np.uint8)
    mask[80:120, 120:200] = 9
    seen = A.ReplayCompose.replay(
        done["replay"], image=larger, mask=mask, bboxes=[(120, 80, 200, 120)], labels=[0]
    )
    alone = degrade(larger, "rotated@2", key="0/k")
    assert (seen["image"] == alone.image).all()
    x0, y0, x1, y1 = cv2.boundingRect(cv2.findNonZero(seen["mask"]))
    assert tuple(seen["bboxes"][0]) == pytest.approx((x0, y0, x0 + x1, y0 + y1), abs=2.0)


@pytest.mark.parametrize("focus", [None, (10, 20, 90, 80)])
def test_a_transform_is_saved_as_json_and_comes_back(focus: Any) -> None:
    transform = A.Compose([Degrade(SPEC, focus=focus, focus_box=None, key_seed=7)])
    saved = json.loads(json.dumps(A.to_dict(transform)))
    back = A.from_dict(saved)
    image = picture(1)
    assert (back(image=image, key=1)["image"] == transform(image=image, key=1)["image"]).all()
    assert (back(image=image, key=1)["image"] == degrade(image, SPEC, focus, key="7/1").image).all()
    assert json.loads(json.dumps(A.to_dict(back))) == saved
    assert back.transforms[0].focus == focus


def test_four_channels_stay_four_and_the_fourth_follows_the_warp() -> None:
    image = picture(1)
    opaque = np.dstack([image, np.full(SIZE[::-1], 255, np.uint8)])
    done = A.Compose([Degrade(SPEC)])(image=opaque, key="k")["image"]
    assert done.shape == opaque.shape
    assert (done[:, :, :3] == degrade(image, SPEC, key="0/k").image).all()
    assert (done[:, :, 3] == 255).all()
    half = opaque.copy()
    half[:, : SIZE[0] // 2, 3] = 0
    turned = A.Compose([Degrade("rotated@3")])(image=half, mask=half[:, :, 3], key="k")
    assert (turned["image"][:, :, :3] == degrade(image, "rotated@3", key="0/k").image).all()
    assert np.abs(turned["image"][:, :, 3].astype(int) - turned["mask"]).mean() < 3
    dark = A.Compose([Degrade("low-light@3")])(image=half, key="k")["image"]
    assert (dark[:, :, 3] == half[:, :, 3]).all()


@pytest.mark.parametrize("as_list", [True, False])
def test_a_batch_is_degraded_frame_by_frame(as_list: bool) -> None:
    frames = [picture(i) for i in range(3)]
    given = frames if as_list else np.stack(frames)
    done = A.Compose([Degrade(SPEC)])(images=given, key="k")["images"]
    assert isinstance(done, list) == as_list
    for frame, seen in zip(frames, done, strict=True):
        assert (seen == degrade(frame, SPEC, key="0/k").image).all()
    unkeyed = A.Compose([Degrade(SPEC)])
    assert (np.stack(unkeyed(images=given)["images"]) == unkeyed(images=given)["images"]).all()
    first = unkeyed(image=frames[0])["image"]
    assert (unkeyed(images=given)["images"][0] == first).all()
    together = A.Compose([Degrade(SPEC)])(image=frames[0], images=np.stack(frames[1:]), key="k")
    assert (together["images"][1] == degrade(frames[2], SPEC, key="0/k").image).all()


def test_strictness_knows_the_key_and_refuses_what_it_does_not_know() -> None:
    image = picture(1)
    strict = A.Compose([Degrade(SPEC, strict=True)], strict=True)
    assert (strict(image=image, key=3)["image"] == degrade(image, SPEC, key="0/3").image).all()
    with pytest.raises(ValueError, match="kee is not in available keys"):
        strict(image=image, kee=3)
    with pytest.raises(ValueError, match="focusbox"):
        Degrade(SPEC, focusbox=2, strict=True)
    with pytest.warns(UserWarning, match="focusbox"):
        Degrade(SPEC, focusbox=2)
    with pytest.raises(ValueError, match="less than or equal to 1"):
        Degrade(SPEC, p=2)


def test_a_seeded_pipeline_repeats_itself() -> None:
    def run() -> list[np.ndarray]:
        some = A.Compose([A.HorizontalFlip(p=0.5), Degrade("low-light@2", p=0.5)], seed=5)
        return [some(image=picture(i), key=i)["image"] for i in range(6)]

    assert all((a == b).all() for a, b in zip(run(), run(), strict=True))


@pytest.mark.parametrize(
    "spec", ["resampled:soft@2", "codec:webp@1", "denoised@2", "wb:cold@3", "flare@2"]
)
def test_what_lens_and_processor_do_moves_no_box(spec: str) -> None:
    image = picture(1)
    done = boxed(spec=spec)(image=image, bboxes=[box(1)], labels=[0], key="k")
    assert (done["image"] == degrade(image, spec, box(1), key="0/k").image).all()
    assert (done["image"] != image).any()
    assert tuple(done["bboxes"][0]) == pytest.approx(box(1), abs=0.01)
