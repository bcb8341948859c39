"""Image encoders: any open_clip model, and the small one that comes with the project."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from mmrag.encoders.devices import choose_device, choose_dtype, revision_mark
from mmrag.encoders.model_file_checks import hub_errors, revision_of, short_file_hash
from mmrag.errors import Unavailable
from mmrag.files.images import LazyImage
from mmrag.torchvision_fix import ensure_torchvision, one_at_a_time

if TYPE_CHECKING:
    from PIL.Image import Image

BUILTIN = Path(__file__).parent / "data" / "world-lite"
"""Folder of the built-in encoder: configuration, weights and model card, in open_clip's form."""

_BLOCK = 8

_BUILTIN_FLOOR = 0.375
"""As many of a development world's pictures have a hit of .75 or more as before the built-in
encoder was centred, which made cosines smaller."""


class ImageEncoder:
    """Pictures to unit vectors. Safe to call from several threads."""

    def __init__(
        self,
        model: Any,
        preprocess: Any,
        *,
        name: str,
        revision: str,
        dtype: Any,
        blocks: int = 4,
        floor: float = 0.0,
    ) -> None:
        self._model = model
        self._device = next(model.parameters()).device
        self._dtype = dtype
        self._preprocess = preprocess
        self.name = name
        self.revision = revision
        size = model.visual.image_size
        self.image_size = int(size[0] if isinstance(size, tuple) else size)
        """Side of the square that the model sees."""
        self._rows = _BLOCK * blocks
        self.floor = floor
        """The score of two pictures whose cosine is 0; that of equal ones is 1. The published
        agents keep hits of .75 or more, a bar made for CLIP's cosines; others may be smaller."""
        self._lock = threading.Lock()
        self._dim = 0

    @property
    def id(self) -> str:
        """Name and revision of the weights."""
        return f"{self.name}@{self.revision}"

    @property
    def dim(self) -> int:
        """Length of a vector."""
        if not self._dim:
            self._dim = int(self.encode_crops([_grey(self.image_size)]).shape[1])
        return self._dim

    def encode(self, items: Sequence[LazyImage]) -> NDArray[np.float32]:
        """Whole pictures to vectors."""
        return self.encode_crops([item.pil() for item in items])

    def encode_crops(self, crops: Sequence[Image]) -> NDArray[np.float32]:
        """Decoded pictures to vectors, in blocks of a fixed shape.

        The last block is filled up, so that a picture's vector does not depend, not even in its
        last bit, on which other pictures were encoded with it.
        """
        import torch

        if not crops:
            return np.zeros((0, self.dim), np.float32)
        found: list[NDArray[np.float32]] = []
        for start in range(0, len(crops), self._rows):
            some = crops[start : start + self._rows]
            pixels = torch.stack([self._preprocess(crop) for crop in some])
            for block in pixels.split(_BLOCK):
                found.append(self._forward(block)[: len(block)])
        return np.concatenate(found)

    def _forward(self, pixels: Any) -> NDArray[np.float32]:
        import torch

        missing = _BLOCK - len(pixels)
        if missing:
            pixels = torch.cat([pixels, pixels[-1:].expand(missing, -1, -1, -1)])
        moved = pixels.to(self._device, self._dtype)
        with self._lock, torch.inference_mode():
            features = self._model.encode_image(moved).float()
        # In 32 bits: a length of 1 in 16 bits is .998 to 1.002, which likenesses would keep.
        return torch.nn.functional.normalize(features, dim=-1).cpu().numpy()


def builtin_encoder(*, precision: str = "auto") -> ImageEncoder:
    """The small encoder that the project trained on its own world: no download, 15 MB at most."""
    weights = BUILTIN / "open_clip_model.safetensors"
    if not weights.is_file():
        raise Unavailable(
            f"{weights}: the built-in image weights are missing. Install the project again, or "
            "train them with `python scripts/train_encoder.py`."
        )
    dtype = choose_dtype(choose_device(), precision)
    return _builtin(revision_mark(short_file_hash(weights), precision), dtype)


@lru_cache(maxsize=2)
def _builtin(mark: str, dtype: Any) -> ImageEncoder:
    """Loaded once for all who ask."""
    spec = f"local-dir:{BUILTIN}"
    return _load(spec, None, dtype, name="world-lite", revision=mark, floor=_BUILTIN_FLOOR)


def open_clip_encoder(
    *, model: str, weights: str | None = None, precision: str = "auto"
) -> ImageEncoder:
    """Any open_clip model. `model` is one of open_clip's names (then `weights` is a tag such as
    `openai`, or a file), a folder in open_clip's form, or `hf-hub:organisation/name`."""
    dtype = choose_dtype(choose_device(), precision)
    if Path(model).is_dir():
        mark = revision_mark(revision_of(model, "local"), precision)
        return _load(f"local-dir:{model}", None, dtype, name=Path(model).name, revision=mark)
    if model.startswith("hf-hub:"):
        mark = revision_mark(revision_of(model.removeprefix("hf-hub:"), "main"), precision)
        return _load(model, None, dtype, name=model, revision=mark)
    if weights is None:
        raise Unavailable(
            f"open-clip:model={model} names no weights; add weights=openai, another of open_clip's "
            "tags, or the path of a weights file. An untrained model would find nothing."
        )
    mark = short_file_hash(Path(weights)) if Path(weights).is_file() else weights
    return _load(model, weights, dtype, name=model, revision=revision_mark(mark, precision))


@one_at_a_time
def _load(
    model: str, weights: str | None, dtype: Any, *, name: str, revision: str, floor: float = 0.0
) -> ImageEncoder:
    device = choose_device()
    ensure_torchvision()
    import open_clip
    import torch

    with hub_errors("image encoder", model.removeprefix("local-dir:"), "the one named `builtin`"):
        clip, _, preprocess = open_clip.create_model_and_transforms(
            model, pretrained=weights, device=device, precision="fp32", require_pretrained=True
        )
    clip.eval()
    tower: Any = clip.visual
    if hasattr(tower, "trunk"):
        _fold_norms(tower.trunk)
        tower.to(memory_format=torch.channels_last)
        clip.to(dtype=dtype)
    else:
        open_clip.convert_weights_to_lp(clip, dtype)  # layer norms stay in 32 bits
    return ImageEncoder(clip, preprocess, name=name, revision=revision, dtype=dtype, floor=floor)


def _fold_norms(network: Any) -> None:
    """Put every batch norm into the convolution before it: the same sums, half again as fast.

    Only where a normalisation follows its convolution at once, which timm's networks of blocks
    keep to; whatever else there is stays as it is.
    """
    import torch
    from timm.layers.norm_act import BatchNormAct2d
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    for block in list(network.modules()):
        parts: list[tuple[str, Any]] = list(block.named_children())
        for (first, conv), (second, norm) in itertools.pairwise(parts):
            if isinstance(conv, torch.nn.Conv2d) and isinstance(norm, BatchNormAct2d):
                setattr(block, first, fuse_conv_bn_eval(conv, cast("Any", norm)))
                setattr(block, second, norm.act)


def _grey(side: int) -> Image:
    from PIL import Image as pil

    return pil.new("RGB", (side, side), (128, 128, 128))
