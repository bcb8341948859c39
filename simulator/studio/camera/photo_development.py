"""From light to a phone's picture: white balance, exposure, noise, curve, a little sharpening."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.world.pictures.randomness import generator
from simulator.world.pictures.traits import Draws

_BALANCED = 0.6
"""How far a phone takes the colour out of the light: all of it would look like a scanner's."""
_FULL = 60_000.0
"""Electrons of a white pixel at ISO 100, of the burst of frames that a phone adds up."""
_READ = 6.0
"""Electrons of noise that reading a pixel adds."""
_TAPPED = 0.35
"""How far exposure follows the subject rather than the picture."""
_CLIPS = 0.9
"""Of what the curve tends to: brighter than this is white."""
_BRIGHT = 0.35
"""Mean light at which ISO 100 is enough."""


def develop(
    light: NDArray[np.float32],
    draws: Draws,
    *,
    noise: float = 1.0,
    swing: float = 1.0,
    limit: float = 32.0,
    white: NDArray[np.float32] | None = None,
    subject: NDArray[np.bool_] | None = None,
) -> NDArray[np.uint8]:
    """Linear light as a phone shows it. `limit` is the most that ISO may rise above 100: what is
    darker than that stays dark. `white` is how white paper would look, if that is known; else the
    picture is taken to be grey in the mean, which fades a lawn. `subject` is what a wearer taps at:
    a dark one is shown somewhat brighter, a bright one somewhat darker."""
    import cv2

    light = np.maximum(light, 0) * _balance(light, draws, swing, white)
    mean = _mean(light)
    if subject is not None and subject.any():
        off = np.log2(_mean(light[subject]) / mean)
        mean *= float(2 ** (_TAPPED * np.clip(off, -2.5, 2.5)))
    iso = min(max(_BRIGHT / mean, 0.5), limit)
    gain = 0.2 / _BRIGHT * iso * 2 ** (draws("exposure", -0.25, 0.3) * swing)
    x = light * np.float32(gain) * _vignette(*light.shape[:2])
    if noise > 0:
        x = x + _noise(x, iso, draws) * np.float32(noise)
    x = np.maximum(x, 0)
    curve = np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14) / _CLIPS, 0, 1)
    screen = (curve ** (1 / 2.2)).astype(np.float32)
    soft = cv2.GaussianBlur(screen, (0, 0), 1.1)
    return np.clip((screen + 0.3 * (screen - soft)) * 255 + 0.5, 0, 255).astype(np.uint8)


def _mean(light: NDArray[np.float32]) -> float:
    """What a phone measures: the middle of the picture counts more, lamps count little."""
    luma = light @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    return float(np.exp(np.log(luma + 1e-4).mean()))


def _balance(
    light: NDArray[np.float32], draws: Draws, swing: float, white: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    flat = np.minimum(light.reshape(-1, 3), np.percentile(light, 97))
    mean = np.maximum(flat.mean(0) if white is None else white, 1e-6)
    grey = float(mean @ np.array([0.2126, 0.7152, 0.0722]))
    warm = draws("warm", -0.035, 0.045) * swing
    own = np.array([1 + warm, 1.0, 1 - warm])
    return (np.clip(grey / mean, 0.4, 2.5) ** _BALANCED * own).astype(np.float32)


def _vignette(height: int, width: int) -> NDArray[np.float32]:
    y, x = np.ogrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    return (1 - 0.11 * ((x * x + y * y) / 2) ** 1.3).astype(np.float32)[..., None]


def _noise(x: NDArray[np.float32], iso: float, draws: Draws) -> NDArray[Any]:
    """Photons and reading, as the phone's own smoothing leaves them: the darker, the coarser, and
    with less colour than light."""
    import cv2

    electrons = _FULL / iso
    rng = generator("sensor", int(draws("sensor") * (1 << 40)))
    grain = 0.5 * rng.standard_normal(x.shape, np.float32)
    grain += rng.standard_normal((*x.shape[:2], 1), np.float32)
    grain = cv2.GaussianBlur(grain, (0, 0), 0.5 + 0.06 * min(iso, 16.0) ** 0.5)
    sigma = np.sqrt(np.maximum(x, 0) / np.float32(electrons)) + np.float32(_READ / electrons)
    return grain * sigma
