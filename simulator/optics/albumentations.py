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
from simulator.optics.degradation_spec import DegradationSpec
from simulator.optics.pipeline import degrade
from simulator.optics.pixels import as_rgb, digest
from simulator.optics.shape import geometry

_GEOMETRY = ("rotated", "truncated")
"""The kinds that move pixels; they depend on size, entity and key, never on the pixels."""


class Degrade(A.DualTransform):
    """Degrade a picture about its entity; masks, boxes and keypoints follow the warp.

    The entity is `focus`, else the box with index `focus_box` among the picture's boxes, else the
    frame. Randomness comes from `key_seed` and the item's `key` (pass `key=…` in the call beside
    `image=…`), or its pixels where no key is given: never from the worker's state, so one worker
    and four give the same items. Occlusion never changes a box.

    Further pictures (`additional_targets`, `images=`) share the first one's key and entity, and so
    its warp and what stands before the lens; how strongly each is blurred or darkened is its own.
    What a replay keeps is the key and the entity, in parts of the frame.
    """

    _targets = (Targets.IMAGE, Targets.MASK, Targets.BBOXES, Targets.KEYPOINTS)

    class InitSchema(A.DualTransform.InitSchema):
        """What albumentations checks the arguments against."""

        spec: str
        focus: Box | None
        focus_box: int | None
        key_seed: int

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
        self._available_keys.add("key")  # else `strict=True` refuses it

    def get_transform_init_args_names(self) -> tuple[str, ...]:
        """What `A.save` keeps."""
        return ("spec", "focus", "focus_box", "key_seed")

    def get_params_dependent_on_data(
        self,
        params: dict[str, Any],  # noqa: ARG002
        data: dict[str, Any],
    ) -> dict[str, Any]:
        """The key and the entity: plain values, so that a replay can be kept as JSON."""
        key = data["key"] if "key" in data else digest(as_rgb(_first(data)))
        return {"key": f"{self.key_seed}/{key}", "entity": self._entity(data)}

    def apply_with_params(self, params: dict[str, Any], *args: Any, **data: Any) -> dict[str, Any]:
        """Apply to what is given now: a replay may bring a picture of another size."""
        first = _first(data)
        shape = params["shape"] if first is None else first.shape
        moved = {"shape": shape, "matrix": self._matrix(shape, params)}
        return super().apply_with_params({**params, **moved}, *args, **data)

    def apply(
        self, img: NDArray[np.uint8], key: str = "", entity: Any = None, **_params: Any
    ) -> Any:
        """The picture degraded, with as many channels as it came with."""
        has_alpha = img.ndim == 3 and img.shape[2] == 4
        focus = self._focus(img.shape, entity)
        colours = np.ascontiguousarray(img[:, :, :3]) if has_alpha else img
        degraded = degrade(colours, self.spec, focus, key=key, measured=False).image
        if has_alpha:
            return np.dstack([degraded, self._alpha(img[:, :, 3], key, entity)])
        if img.ndim == 2 or img.shape[2] == 1:
            gray = cv2.cvtColor(degraded, cv2.COLOR_RGB2GRAY)
            return gray if img.ndim == 2 else gray[:, :, None]
        return degraded

    def apply_to_mask(self, mask: Any, matrix: Any = None, **_params: Any) -> Any:
        """Nearest neighbour: labels are not mixed."""
        if np.array_equal(matrix, np.eye(3)):
            return mask
        h, w = mask.shape[:2]
        inner = geometry.cv_matrix(matrix)
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

    def _alpha(self, alpha: NDArray[np.uint8], key: str, entity: Any) -> NDArray[np.uint8]:
        """Transparency goes where its pixels go; light and lens do nothing to it."""
        matrix = self._matrix(alpha.shape, {"key": key, "entity": entity})
        if np.array_equal(matrix, np.eye(3)):
            return alpha
        return geometry.warp(np.dstack([alpha] * 3), matrix)[:, :, 0]

    def _matrix(self, shape: tuple[int, ...], params: dict[str, Any]) -> NDArray[np.float64]:
        """Where the pixels of a picture of this shape go."""
        steps = tuple(s for s in DegradationSpec.parse(self.spec).steps if s.kind in _GEOMETRY)
        if not steps:
            return np.eye(3)
        blank = np.zeros((*shape[:2], 3), np.uint8)
        focus = self._focus(shape, params["entity"])
        chain = DegradationSpec(steps=steps)
        done = degrade(blank, chain, focus, key=params["key"], measured=False)
        return geometry.matrix_of(done.record.matrix)

    def _entity(self, data: dict[str, Any]) -> list[float] | None:
        """The box that says what the picture is about, in parts of the frame."""
        boxes = data.get("bboxes")
        if self.focus is not None or self.focus_box is None or boxes is None:
            return None
        if len(boxes) <= self.focus_box:
            return None
        return [float(v) for v in boxes[self.focus_box][:4]]

    def _focus(self, shape: tuple[int, ...], entity: list[float] | None) -> Box | None:
        if entity is None:
            return self.focus
        h, w = shape[:2]
        x0, y0, x1, y1 = entity
        return x0 * w, y0 * h, x1 * w, y1 * h


def _first(data: dict[str, Any]) -> Any:
    """The picture that an item's key and size are taken from; None where there is none."""
    for name, depth in (("image", 0), ("images", 1), ("volume", 1), ("volumes", 2)):
        found = data.get(name)
        if found is not None:
            for _ in range(depth):
                found = found[0]
            return found
    return None
