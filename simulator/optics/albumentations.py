"""`Degrade` for users of albumentations: the whole chain as one transform.

>>> import albumentations as A
>>> from simulator.optics.albumentations import Degrade
>>> train = A.Compose([Degrade("occluded:finger@3+rotated@2")], bbox_params=A.BboxParams("coco"))
"""

from __future__ import annotations

from typing import Any, cast

import albumentations as A  # noqa: N812
import cv2
import numpy as np
from albumentations.core.type_definitions import Targets
from numpy.typing import NDArray

from mmrag.records import Box
from simulator.optics import geometry
from simulator.optics.pictures import as_rgb, digest
from simulator.optics.pipeline import degrade
from simulator.optics.spec import DegradationSpec


class Degrade(A.DualTransform):
    """Degrade a picture about its entity; masks, boxes and keypoints follow the warp.

    The entity is `focus`, else the box with index `focus_box` among the picture's boxes, else the
    frame. Randomness comes from `key_seed` and the item's `key` (pass `key=…` in the call beside
    `image=…`), or its pixels where no key is given: never from the worker's state, so one worker
    and four give the same items. Occlusion never changes a box.
    """

    _targets = (Targets.IMAGE, Targets.MASK, Targets.BBOXES, Targets.KEYPOINTS)

    def __init__(
        self,
        spec: str,
        *,
        focus: Box | None = None,
        focus_box: int | None = 0,
        key_seed: int = 0,
        p: float = 1.0,
    ) -> None:
        super().__init__(p=p)
        self.spec = str(DegradationSpec.parse(spec))
        self.focus = focus
        self.focus_box = focus_box
        self.key_seed = key_seed

    def get_transform_init_args_names(self) -> tuple[str, ...]:
        """What `A.save` keeps."""
        return ("spec", "focus", "focus_box", "key_seed")

    def get_params_dependent_on_data(
        self,
        params: dict[str, Any],  # noqa: ARG002
        data: dict[str, Any],
    ) -> dict[str, Any]:
        """Degrade here, once, as every target needs the matrix."""
        clean = as_rgb(data["image"])
        key = data["key"] if "key" in data else digest(clean)
        done = degrade(
            clean, self.spec, self._focus(clean, data), key=f"{self.key_seed}/{key}", measured=False
        )
        matrix = geometry.matrix_of(done.record.matrix)
        return {"degraded": done.image, "matrix": matrix, "record": done.record}

    def apply(self, img: NDArray[np.uint8], degraded: Any = None, **_params: Any) -> Any:
        """The degraded picture, with as many channels as it came with."""
        if img.ndim == 2 or img.shape[2] == 1:
            gray = cv2.cvtColor(degraded, cv2.COLOR_RGB2GRAY)
            return gray if img.ndim == 2 else gray[:, :, None]
        return degraded

    def apply_to_mask(self, mask: Any, matrix: Any = None, **_params: Any) -> Any:
        """Nearest neighbour: labels are not mixed."""
        if np.array_equal(matrix, np.eye(3)):
            return mask
        h, w = mask.shape[:2]
        inner = geometry.centred(matrix)
        return cv2.warpAffine(mask, inner, (w, h), flags=cv2.INTER_NEAREST).reshape(mask.shape)

    def apply_to_bboxes(self, bboxes: Any, matrix: Any = None, **_params: Any) -> Any:
        """Corners are warped, the box around them is taken; the processor clips it."""
        h, w = _params["shape"][:2]
        moved = np.array(bboxes, np.float64)
        for row in moved:
            x0, y0, x1, y1 = row[0] * w, row[1] * h, row[2] * w, row[3] * h
            corners = geometry.move_points(geometry.corners((x0, y0, x1, y1)), matrix)
            around = cast("Box", geometry.bounds(corners))
            row[:4] = around[0] / w, around[1] / h, around[2] / w, around[3] / h
        return moved.astype(np.asarray(bboxes).dtype)

    def apply_to_keypoints(self, keypoints: Any, matrix: Any = None, **_params: Any) -> Any:
        """Place, angle and scale; columns are x, y, z, angle, scale and the caller's own."""
        moved = np.array(keypoints, np.float64)
        if not len(moved):
            return keypoints
        points = np.c_[moved[:, :2], np.ones(len(moved))] @ np.asarray(matrix).T
        moved[:, :2] = points[:, :2] / points[:, 2:]
        turn = float(np.arctan2(matrix[1][0], matrix[0][0]))
        moved[:, 3] = np.mod(moved[:, 3] + turn, 2 * np.pi)
        moved[:, 4] *= float(np.sqrt(abs(np.linalg.det(np.asarray(matrix)[:2, :2]))))
        return moved.astype(np.asarray(keypoints).dtype)

    def _focus(self, image: NDArray[np.uint8], data: dict[str, Any]) -> Box | None:
        boxes = data.get("bboxes")
        if self.focus is not None or self.focus_box is None or boxes is None:
            return self.focus
        if len(boxes) <= self.focus_box:
            return None
        h, w = image.shape[:2]
        x0, y0, x1, y1 = (float(v) for v in boxes[self.focus_box][:4])
        return x0 * w, y0 * h, x1 * w, y1 * h
