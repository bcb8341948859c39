"""The photometric part on batches, with torch: exposure, noise and tone, motion and defocus.

Meant for pipelines whose pictures are on a GPU already. The bytes are those of the CPU path: random
bytes come from the same streams, tables and kernels are the same, and everything between is either
whole numbers or rounded the same way. Warps, mattes and roll stay with OpenCV: they interpolate at
any place, with weights that no two libraries round alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mmrag.errors import UsageError
from simulator.optics import blur, lowlight, tone
from simulator.optics.tone import Image


def best_device() -> torch.device:
    """CUDA where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def expose(
    images: torch.Tensor | Sequence[Image],
    exposures: Sequence[lowlight.Exposure],
    keys: Sequence[str],
    severities: Sequence[int],
    *,
    device: torch.device | str | None = None,
) -> torch.Tensor:
    """`lowlight.expose` for n × h × w × 3 bytes at once; one exposure, key and level for each."""
    batch = _batch(images, device)
    n, h, w, _ = batch.shape
    if not n == len(exposures) == len(keys) == len(severities):
        raise UsageError(f"{n} pictures need as many exposures, keys and severities.")
    tones = batch.long()
    tables: list[NDArray[np.uint8]] = []
    starts = np.zeros((n, h), np.int64)
    quantiles = np.empty((n, h, w, 3), np.uint8)
    for i, (exposure, key, level) in enumerate(zip(exposures, keys, severities, strict=True)):
        quantiles[i] = lowlight.random_bytes(key, level, h * w * 3).reshape(h, w, 3)
        ev, square = exposure.ev, exposure.spot is not None
        if exposure.spot is not None:
            ev -= lowlight.SURROUND_EV
            tones[i] = _tones_under(batch[i], exposure.spot, key, level)
        offsets = lowlight.row_offsets(h, exposure, key, level)
        levels = range(lowlight.ROW_LEVELS) if offsets is not None else ()
        shifts = [lowlight.row_level(row, exposure) for row in levels] or [0.0]
        starts[i] = (offsets if offsets is not None else 0) + len(tables)
        tables += [lowlight.table(ev, exposure.gain, shift, square) for shift in shifts]
    codes = torch.from_numpy(np.stack(tables)).to(batch.device)
    index = tones * 256 + torch.from_numpy(quantiles).to(batch.device).long()
    which = torch.from_numpy(starts).to(batch.device)[:, :, None, None]
    return codes.reshape(-1)[which * 65536 + index]


def move(
    images: torch.Tensor | Sequence[Image],
    motion: blur.Motion,
    *,
    device: torch.device | str | None = None,
) -> torch.Tensor:
    """`blur.move` between sRGB codes for n × h × w × 3 bytes at once."""
    batch = _batch(images, device)
    light = _decoding(batch.device)[batch.long()].movedim(3, 1)
    kernel = torch.from_numpy(blur.segment_kernel(motion).astype(np.float64)).to(batch.device)
    x = _convolve(light, kernel)
    dx, dy, count = round(motion.dx), round(motion.dy), motion.segments
    if count > 1:
        reach_x, reach_y = (count - 1) * abs(dx), (count - 1) * abs(dy)
        left, top = reach_x // 2, reach_y // 2
        x = _mirrored(x, left, reach_x - left, top, reach_y - top)
    step = 1
    while step < count:
        sx, sy = step * dx, step * dy
        h, w = x.shape[-2:]
        ax, bx, ay, by = max(0, -sx), max(0, sx), max(0, -sy), max(0, sy)
        first, second = x[..., ay : h - by, ax : w - bx], x[..., by : h - ay, bx : w - ax]
        x = torch.round((first + second) / 2)  # half to even, as OpenCV's addWeighted
        step *= 2
    return _encoding(batch.device)[x.long()].movedim(1, 3).contiguous()


def defocus(
    images: torch.Tensor | Sequence[Image],
    radius: float,
    *,
    device: torch.device | str | None = None,
) -> torch.Tensor:
    """`blur.defocus` between sRGB codes for n × h × w × 3 bytes at once."""
    batch = _batch(images, device)
    light = _decoding(batch.device)[batch.long()].movedim(3, 1)
    if radius >= 0.5:
        light = _defocused(light, radius)
    return _encoding(batch.device)[light.long()].movedim(1, 3).contiguous()


def _defocused(light: torch.Tensor, radius: float) -> torch.Tensor:
    shrink = blur.reduction(radius)
    kernel = blur.disc_kernel(blur.reduced_radius(radius))
    weights = torch.from_numpy(kernel.astype(np.float64)).to(light.device)
    if shrink == 1:
        return _convolve(light, weights)
    h, w = light.shape[-2:]
    padded = torch.nn.functional.pad(light, (0, -w % shrink, 0, -h % shrink), mode="replicate")
    total = torch.nn.functional.avg_pool2d(padded, shrink, divisor_override=1)
    # OpenCV's special case for 2 × 2 rounds half up, its others half to even.
    small = torch.floor((total + 2) / 4) if shrink == 2 else torch.round(total / shrink**2)
    large = torch.nn.functional.interpolate(
        _convolve(small, weights), scale_factor=shrink, mode="bilinear", align_corners=False
    )
    return torch.round(large)[..., :h, :w]


def _batch(
    images: torch.Tensor | Sequence[Image], device: torch.device | str | None
) -> torch.Tensor:
    if isinstance(images, torch.Tensor):
        batch = images if device is None else images.to(device)
    else:
        batch = torch.from_numpy(np.stack(list(images))).to(device or best_device())
    if batch.dtype != torch.uint8 or batch.ndim != 4 or batch.shape[3] != 3:
        raise UsageError(
            f"a batch of {batch.dtype} {tuple(batch.shape)}; give uint8, n × h × w × 3."
        )
    return batch


def _tones_under(
    image: torch.Tensor, spot: tuple[float, float, float, float], key: str, severity: int
) -> torch.Tensor:
    h, w, _ = image.shape
    shade = torch.from_numpy(lowlight.illumination((h, w), spot).astype(np.float32))
    dither = torch.from_numpy(lowlight.dither(key, severity, h, w).astype(np.int64))
    roots = torch.from_numpy(lowlight.roots().astype(np.float32)).to(image.device)[image.long()]
    # In OpenCV's order of multiplication, so that float32 rounds alike.
    lit = torch.round((roots * float(np.float32(1 / 65535.0))) * shade.to(image.device)[..., None])
    return (lit.long() + dither.to(image.device)) >> 8


def _convolve(light: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    """Exact: the products are whole multiples of 1/512 far below 2⁵³."""
    n, c, h, w = light.shape
    kh, kw = kernel.shape
    padded = _mirrored(light, kw // 2, kw // 2, kh // 2, kh // 2)
    out = torch.zeros((n, c, h, w), dtype=torch.float64, device=light.device)
    for y, x in torch.nonzero(kernel).tolist():
        out += kernel[y, x] * padded[..., y : y + h, x : x + w]
    return torch.round(out)


def _mirrored(x: torch.Tensor, left: int, right: int, top: int, bottom: int) -> torch.Tensor:
    """OpenCV's BORDER_REFLECT_101 at any width: a smear may be longer than the picture."""
    h, w = x.shape[-2:]
    rows = torch.from_numpy(_reflected(h, top, bottom)).to(x.device)
    cols = torch.from_numpy(_reflected(w, left, right)).to(x.device)
    return x[..., rows, :][..., cols]


def _reflected(size: int, before: int, after: int) -> NDArray[np.int64]:
    if size == 1:
        return np.zeros(before + 1 + after, np.int64)
    period = 2 * (size - 1)
    place = np.arange(-before, size + after) % period
    return np.where(place < size, place, period - place).astype(np.int64)


def _decoding(device: torch.device) -> torch.Tensor:
    codes = np.arange(256, dtype=np.uint8).reshape(1, 256, 1).repeat(3, axis=2)
    light = tone.to_light(codes)[0, :, 0].astype(np.float64)
    return torch.from_numpy(light).to(device)


def _encoding(device: torch.device) -> torch.Tensor:
    every: Any = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    return torch.from_numpy(tone.to_codes(every).reshape(-1)).to(device)
