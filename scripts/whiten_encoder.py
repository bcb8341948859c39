"""Centre and partly whiten the built-in image encoder on what the squares of pictures show.

    python scripts/whiten_encoder.py WORLD --begin TRAINED --out OUT

Trained on things alone, the encoder gives every square of a lived-in picture a large common part,
and catalogue pictures that share it (a pale flag) come first whatever is asked about. The last
layer is linear: their mean is taken off there, and directions in which squares differ most count
less. Nothing is trained; it takes minutes, on a world that nothing is reported on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mmrag.search.image.regions import crops_of, regions_of
from mmrag.torchvision_fix import ensure_torchvision
from scripts.train_encoder import SIDE, digest, save
from simulator.datasets import open_data

POWER = 0.25
"""0 leaves the directions as they are, .5 whitens them; chosen on development worlds."""
LEAST = 0.005
"""Variance, in parts of the mean one, below which a direction is not made louder."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("world")
    parser.add_argument("--begin", type=Path, required=True, help="Weights as they were trained.")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    card = json.loads((given.begin / "training.json").read_text())
    if "whitened" in card:
        raise SystemExit(f"{given.begin} is whitened already: begin with weights as trained")
    ensure_torchvision()
    import open_clip

    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{given.begin}")
    model.eval()
    seen = np.concatenate(list(squares(given.world, model, preprocess)))
    whiten(model.visual.head.proj, seen)
    save(model, given.out)
    card["whitened"] = {"squares": len(seen), "power": POWER, "from": digest(given.begin)}
    (given.out / "training.json").write_text(json.dumps(card, indent=1) + "\n")
    print(f"{len(seen)} squares; {given.out}: {digest(given.out)}")


def squares(world: str, model: Any, preprocess: Any) -> Iterator[NDArray[np.float32]]:
    """What the last layer gives for the squares of each first-person picture."""
    import torch

    for session in open_data(world):
        if session.capture is None or not session.capture.is_ego:
            continue
        picture = session.capture.image.pil()
        crops = crops_of(picture, regions_of(picture)[1:], SIDE)
        if not crops:  # a strip
            continue
        with torch.inference_mode():
            yield model.encode_image(torch.stack([preprocess(crop) for crop in crops])).numpy()


def whiten(layer: Any, seen: NDArray[np.float32]) -> None:
    """Change a linear layer so that what it gave for these squares is centred and evened out."""
    import torch

    mean = seen.mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov((seen - mean).T))
    turned = (axes * (spread + LEAST * spread.mean()) ** -POWER) @ axes.T
    with torch.no_grad():
        layer.bias.copy_(torch.from_numpy(turned @ (layer.bias.numpy() - mean)))
        layer.weight.copy_(torch.from_numpy(turned @ layer.weight.numpy()))


if __name__ == "__main__":
    main()
