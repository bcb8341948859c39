"""`Degrade` inside albumentations: boxes, keypoints and masks follow the pixels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from simulator.optics import degrade
from simulator.optics.files.samples import sample


@pytest.fixture(scope="module")
def compose():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import albumentations as A  # noqa: N812

        from simulator.optics.albumentations import Degrade

    def make(spec: str, **options):
        return A.Compose(
            [Degrade(spec, **options)],
            bbox_params=A.BboxParams("pascal_voc", label_fields=["labels"]),
            keypoint_params=A.KeypointParams("xy", remove_invisible=False),
        )

    return make


def call(transform, image, boxes, points=(), **more):
    return transform(
        image=image, bboxes=boxes, labels=list(range(len(boxes))), keypoints=list(points), **more
    )


def test_compose_moves_boxes_and_keypoints_with_the_pixels(compose) -> None:
    image, box = sample(3, (320, 240))
    done = call(compose("rotated@1"), image, [box], [(100.0, 80.0)], key="k")
    alone = degrade(image, "rotated@1", box, key="0/k")
    assert (done["image"] == alone.image).all()
    left, top, right, bottom = alone.record.box_unclipped
    clipped = (max(0, left), max(0, top), min(320, right), min(240, bottom))
    assert tuple(done["bboxes"][0]) == pytest.approx(clipped, abs=0.01)
    matrix = np.array(alone.record.matrix).reshape(3, 3)
    expected = (matrix @ (100.0, 80.0, 1.0))[:2]
    assert tuple(done["keypoints"][0]) == pytest.approx(tuple(expected), abs=0.01)


def test_masks_follow_and_labels_are_not_mixed(compose) -> None:
    image, box = sample(3, (320, 240))
    mask = np.zeros((240, 320), np.uint8)
    x0, y0, x1, y1 = (int(v) for v in box)
    mask[y0:y1, x0:x1] = 7
    done = call(compose("truncated@3"), image, [box], mask=mask, key="k")
    assert set(np.unique(done["mask"])) == {0, 7}
    left, top, right, bottom = done["bboxes"][0]
    assert (done["mask"] == 7).sum() == pytest.approx((right - left) * (bottom - top), rel=0.02)


@pytest.mark.parametrize("variant", ["finger", "fence", "screen", "strap"])
def test_occlusion_leaves_boxes_alone(compose, variant: str) -> None:
    image, box = sample(3, (320, 240))
    other = (1.0, 1.0, 20.0, 20.0)
    done = call(compose(f"occluded:{variant}@5"), image, [box, other], [(5.0, 6.0)])
    assert tuple(done["bboxes"][0]) == pytest.approx(box, abs=1e-3)
    assert tuple(done["bboxes"][1]) == pytest.approx(other, abs=1e-3)
    assert tuple(done["keypoints"][0]) == pytest.approx((5.0, 6.0), abs=1e-3)


def test_items_do_not_depend_on_what_was_drawn_before(compose) -> None:
    """albumentations' own transforms differ with the number of workers; this one must not."""
    images = [sample(i, (64, 48))[0] for i in range(4)]
    one = compose("low-light@3+rotated@1")
    in_order = [call(one, image, [], key=i)["image"] for i, image in enumerate(images)]
    fresh = [
        call(compose("low-light@3+rotated@1"), images[i], [], key=i)["image"] for i in (3, 2, 1, 0)
    ]
    assert all((a == b).all() for a, b in zip(in_order, fresh[::-1], strict=True))
    by_pixels = call(one, images[0], [])["image"]
    assert (by_pixels == call(compose("low-light@3+rotated@1"), images[0], [])["image"]).all()


def test_focus_is_the_chosen_box_or_the_frame(compose) -> None:
    image, _ = sample(3, (320, 240))
    boxes = [(10.0, 30.0, 60.0, 90.0), (160.0, 60.0, 240.0, 180.0)]
    second = call(compose("truncated@5", focus_box=1), image, boxes, key="k")["image"]
    alone = degrade(image, "truncated@5", boxes[1], key="0/k").image
    assert (second == alone).all()
    frame = call(compose("truncated@5", focus_box=None), image, boxes, key="k")["image"]
    assert (frame == degrade(image, "truncated@5", key="0/k").image).all()
    assert (call(compose("truncated@5"), image, [], key="k")["image"] == frame).all()


def test_grey_pictures_stay_grey(compose) -> None:
    gray = sample(3, (64, 48))[0][:, :, :1].copy()
    assert call(compose("low-light@2"), gray, [], key="k")["image"].shape == (48, 64, 1)
