"""Train the built-in image encoder on the fictional world, from nothing but this repository.

    python scripts/train_encoder.py prepare --out DATA     # render views of entities, once
    python scripts/train_encoder.py train DATA --out mmrag/encoders/data/world-rn

Every entity is seen on catalogue pictures and in egocentric scenes, half of them degraded. The
encoder learns to bring the two kinds of view of one entity together and to keep look-alikes of its
family, which fill the batch, apart (symmetric InfoNCE). Families of training lie in a range of
numbers that no world uses, so every world is unseen.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import cv2
import numpy as np
from numpy.typing import NDArray

from simulator.optics import degrade
from simulator.world.look import KINDS, LABELLED, Look
from simulator.world.pictures import PICTURES_VERSION, render
from simulator.world.pictures.traits import Draws
from simulator.world.scene import Scene

FAMILIES = range(1_000_000_000, 1_400_000_000)
"""Numbers of families for training; worlds stay below, props above."""
HELD_OUT = 1_400_000_000
"""Families from here on measure progress."""

SIDE = 64
CATALOGUE_SIDE = 88
EGO_SIDE = 120
CATALOGUE_VIEWS = 2
EGO_VIEWS = 2
WIDE = 1.9
"""The stored square around an entity, in parts of its longer side: room for loose crops."""

VISION = {"image_size": SIDE, "layers": [1, 2, 2, 1], "width": 24, "patch_size": None}
CONFIG: dict[str, Any] = {
    "model_cfg": {
        "embed_dim": 256,
        "vision_cfg": VISION,
        # open_clip has no model without a text tower; this one is the smallest it accepts, is
        # never trained and is never called.
        "text_cfg": {"context_length": 8, "vocab_size": 16, "width": 64, "heads": 1, "layers": 1},
    },
    "preprocess_cfg": {
        "size": SIDE,
        "mean": [0.5, 0.5, 0.5],
        "std": [0.25, 0.25, 0.25],
        "interpolation": "bilinear",
        "resize_mode": "squash",
    },
}


class Item(NamedTuple):
    """One entity of the training set."""

    domain: str
    kind: str
    family: int
    variant: int


def items(families: int, variants: int, held_out: int) -> list[Item]:
    """Entities in a fixed order: `variants` neighbours are one family; held-out ones at the end."""
    kinds = [(domain, kind) for domain, known in KINDS.items() for kind in known]
    train = [
        Item(d, k, FAMILIES.start + f, v)
        for f in range(families)
        for d, k in kinds
        for v in range(variants)
    ]
    test = [
        Item(d, k, HELD_OUT + f, v)
        for f in range(held_out)
        for d, k in kinds
        for v in range(variants)
    ]
    return train + test


def look_of(item: Item) -> Look:
    """What the entity looks like, with an invented label where its kind carries one."""
    draw = Draws("train", *item)
    label = "".join(draw.pick(f"l{i}", "aeiourntslm") for i in range(draw.count("n", 4, 9)))
    has_label = item.kind in LABELLED or draw.chance("tag", 0.25)
    return Look(
        domain=item.domain,
        kind=item.kind,
        family=item.family,
        variant=item.variant,
        label=label.title() if has_label else None,
    )


def views(item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Catalogue pictures and squares around the entity in egocentric ones."""
    look, draw = look_of(item), Draws("views", *item)
    plain = np.zeros((CATALOGUE_VIEWS, CATALOGUE_SIDE, CATALOGUE_SIDE, 3), np.uint8)
    for n in range(CATALOGUE_VIEWS):
        scene = Scene(main=look, is_ego=False, key=f"c{item}{n}", width=384, height=384)
        plain[n] = small(render(scene).image, CATALOGUE_SIDE)
    ego = np.zeros((EGO_VIEWS, EGO_SIDE, EGO_SIDE, 3), np.uint8)
    for n in range(EGO_VIEWS):
        scene = Scene(
            main=look,
            key=f"e{item}{n}",
            width=360,
            height=480,
            legible=draw.chance(f"legible{n}", 0.3),
            entity_scale=draw(f"scale{n}", 0.7, 1.2),
            clutter=draw(f"clutter{n}", 0.3, 1.0),
        )
        picture = render(scene)
        image, polygon = picture.image, np.asarray(picture.polygon)
        if draw.chance(f"degraded{n}", 0.4):
            image = degraded(image, polygon, f"{item}/{n}", draw, n)
        ego[n] = square(image, polygon)
    return plain, ego


def degraded(
    image: NDArray[np.uint8], polygon: NDArray[np.float64], key: str, draw: Draws, n: int
) -> NDArray[np.uint8]:
    """One of the optics' degradations that leave the entity where it is."""
    name = draw.pick(f"which{n}", ("low-light", "blurred", "occluded"))
    low, high = polygon.min(0), polygon.max(0)
    done = degrade(
        image,
        f"{name}@{draw.count(f'severity{n}', 1, 4)}",
        (*low, *high),
        key=key,
        calibrated=False,
        measured=False,
    )
    return np.asarray(done.image, np.uint8)


def square(image: NDArray[np.uint8], polygon: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The stored square around an entity; what lies outside the picture is its mirror image."""
    low, high = polygon.min(0), polygon.max(0)
    side = max(float((high - low).max()) * WIDE, 32.0)
    centre = (low + high) / 2
    factor = EGO_SIDE / side
    matrix = np.array(
        [
            [factor, 0, EGO_SIDE / 2 - factor * centre[0]],
            [0, factor, EGO_SIDE / 2 - factor * centre[1]],
        ]
    )
    if factor < 0.6:  # warpAffine does not average: shrink first
        shrink = factor * 1.25
        image = cv2.resize(image, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
        matrix[:, :2] /= shrink
    return cv2.warpAffine(
        image,
        matrix,
        (EGO_SIDE, EGO_SIDE),
        flags=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REFLECT_101,
    )


def small(image: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """A picture as a square of `side` pixels."""
    return cv2.resize(image, (side, side), interpolation=cv2.INTER_AREA)


# --- prepare ---------------------------------------------------------------------------------


def _work(job: tuple[int, Item]) -> tuple[int, NDArray[np.uint8], NDArray[np.uint8]]:
    cv2.setNumThreads(1)
    index, item = job
    return (index, *views(item))


def prepare(out: Path, families: int, variants: int, held_out: int, workers: int) -> None:
    """Render all views into two memory-mapped arrays."""
    todo = items(families, variants, held_out)
    out.mkdir(parents=True, exist_ok=True)
    plain = np.lib.format.open_memmap(
        out / "catalogue.npy",
        "w+",
        np.uint8,
        (len(todo), CATALOGUE_VIEWS, CATALOGUE_SIDE, CATALOGUE_SIDE, 3),
    )
    ego = np.lib.format.open_memmap(
        out / "ego.npy", "w+", np.uint8, (len(todo), EGO_VIEWS, EGO_SIDE, EGO_SIDE, 3)
    )
    ok = np.zeros(len(todo), bool)
    start = time.time()
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for done, result in enumerate(pool.imap_unordered(_work, enumerate(todo), chunksize=8), 1):
            index, plain[index], ego[index] = result
            ok[index] = True
            if done % 200 == 0:
                print(f"{done}/{len(todo)} {time.time() - start:.0f} s", flush=True)
    assert ok.all()
    (out / "items.json").write_text(json.dumps([list(item) for item in todo]))
    meta = {
        "families": families,
        "variants": variants,
        "held_out": held_out,
        "pictures_version": PICTURES_VERSION,
        "entities": len(todo),
    }
    (out / "data.json").write_text(json.dumps(meta, indent=1))


# --- train -----------------------------------------------------------------------------------


class Data:
    """The prepared views with a generator that crops and disturbs them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.meta = json.loads((folder / "data.json").read_text())
        self.plain = np.load(folder / "catalogue.npy", mmap_mode="r")
        self.ego = np.load(folder / "ego.npy", mmap_mode="r")
        listed = [Item(*row) for row in json.loads((folder / "items.json").read_text())]
        groups: dict[str, dict[int, list[int]]] = {}
        for i, item in enumerate(listed):
            if item.family < HELD_OUT:
                groups.setdefault(item.kind, {}).setdefault(item.family, []).append(i)
        self.kinds = [list(families.values()) for families in groups.values() if len(families) > 1]
        self.test = [i for i, item in enumerate(listed) if item.family >= HELD_OUT]
        self.classes = max(i for kind in self.kinds for f in kind for i in f) + 1
        self.rng = np.random.Generator(np.random.Philox(seed))

    def batch(self, families: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8], list[int]]:
        """A catalogue view and an egocentric crop of every variant of some families.

        Families come in pairs of one kind: telling kinds apart is easy and must not fill the batch.
        """
        entities: list[int] = []
        for _ in range(families // 2):
            kind = self.kinds[int(self.rng.integers(len(self.kinds)))]
            for f in self.rng.choice(len(kind), 2, replace=False):
                entities += kind[int(f)]
        entities = list(dict.fromkeys(entities))
        first = [
            self.disturb(self.plain[i, self.rng.integers(CATALOGUE_VIEWS)], loose=0.12)
            for i in entities
        ]
        second = [
            self.disturb(self.ego[i, self.rng.integers(EGO_VIEWS)], loose=0.48) for i in entities
        ]
        return np.stack(first), np.stack(second), entities

    def disturb(self, image: NDArray[np.uint8], loose: float) -> NDArray[np.uint8]:
        """A random crop, turned and mirrored a little, in another light, blurred, noisy, hidden."""
        rng, n = self.rng, image.shape[0]
        side = n * rng.uniform(1 - loose, 1.0)
        centre = n / 2 + rng.uniform(-0.5, 0.5, 2) * (n - side) * (1.0 if loose < 0.3 else 0.8)
        angle = math.radians(rng.normal(0, 6))
        squeeze = rng.uniform(0.88, 1.14)
        f = SIDE / side
        a, b = f * math.cos(angle) * squeeze, f * math.sin(angle)
        if rng.random() < 0.3:
            a, mirrored = -a, True
        else:
            mirrored = False
        c, d = (b if mirrored else -b), f * math.cos(angle) / squeeze
        matrix = np.array([[a, b, 0], [c, d, 0]])
        matrix[:, 2] = SIDE / 2 - matrix[:, :2] @ centre
        out = cv2.warpAffine(
            image, matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
        )
        if rng.random() < 0.25:
            out = cv2.GaussianBlur(out, (0, 0), rng.uniform(0.4, 1.3))
        tint = rng.uniform(0.85, 1.18, 3) * rng.choice([1.0, rng.uniform(0.35, 1.2)])
        lut = np.arange(256)[:, None] / 255.0
        lut = np.clip(255 * (lut ** rng.uniform(0.75, 1.35)) * tint, 0, 255).astype(np.uint8)
        out = cv2.LUT(out, lut[:, None, :])
        if rng.random() < 0.25:
            noise = rng.normal(0, rng.uniform(2, 10), out.shape)
            out = np.clip(out + noise, 0, 255).astype(np.uint8)
        if rng.random() < 0.2:
            x, y = rng.integers(0, SIDE - 10, 2)
            w, h = rng.integers(8, 24, 2)
            out[y : y + h, x : x + w] = rng.integers(0, 255, 3)
        return out

    def held_out(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Undisturbed views of entities that training never sees."""
        plain = np.stack([small(self.plain[i, 0], SIDE) for i in self.test])
        cut = EGO_SIDE // 5
        ego = np.stack([small(self.ego[i, 0][cut:-cut, cut:-cut], SIDE) for i in self.test])
        return plain, ego


def tensor(images: NDArray[np.uint8]) -> Any:
    """Pixels as the preprocessing of CONFIG gives them."""
    import torch

    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float()
    return ((pixels / 255 - 0.5) / 0.25).contiguous(memory_format=torch.channels_last)


def train(
    data_folder: Path,
    out: Path,
    minutes: float,
    families: int,
    seed: int,
    rate: float,
    threads: int,
    begin: Path | None = None,
) -> None:
    """Train for a given time and save in open_clip's form."""
    from mmrag.torchvision_fix import ensure_torchvision

    ensure_torchvision()
    import torch
    from open_clip.model import CLIP

    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    cv2.setNumThreads(1)
    data = Data(data_folder, seed)
    cfg = CONFIG["model_cfg"]
    model: Any = CLIP(cfg["embed_dim"], VISION, cfg["text_cfg"])
    if begin is not None:
        from safetensors.torch import load_file

        known = load_file(begin / "open_clip_model.safetensors")
        model.load_state_dict(
            {k: v.float() if v.is_floating_point() else v for k, v in known.items()}
        )
    model.visual.to(memory_format=torch.channels_last)
    tower = model.visual
    plain_weights = [p for p in tower.parameters() if p.ndim > 1]
    rest = [p for p in tower.parameters() if p.ndim <= 1]
    heat = torch.nn.Parameter(torch.tensor(math.log(1 / 0.1)))
    # One learned direction per training entity: every picture is compared with all of them, which
    # teaches far more per picture than a small batch can. They are thrown away afterwards.
    proxies = torch.nn.Parameter(torch.randn(data.classes, cfg["embed_dim"]) * 0.06)
    optimiser = torch.optim.AdamW(
        [
            {"params": plain_weights, "weight_decay": 0.05},
            {"params": [*rest, heat, proxies], "weight_decay": 0.0},
        ],
        lr=rate,
        betas=(0.9, 0.98),
    )
    start, step, images, curve = time.time(), 0, 0, list[dict[str, float]]()
    shown, total = 0.0, 0.0
    while (used := (time.time() - start) / 60) < minutes:
        share = used / minutes
        lr = (
            rate * min(1.0, (step + 1) / 60) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share)))
        )
        for group in optimiser.param_groups:
            group["lr"] = lr
        first, second, entities = data.batch(families)
        both = tower(tensor(np.concatenate([first, second])))
        a, b = torch.nn.functional.normalize(both, dim=-1).chunk(2)
        logits = a @ b.T * heat.exp().clamp(max=60)
        target = torch.arange(len(a))
        ce = torch.nn.functional.cross_entropy
        named = torch.nn.functional.normalize(torch.cat([a, b]), dim=-1)
        towards = named @ torch.nn.functional.normalize(proxies, dim=-1).T * 20
        loss = (ce(logits, target) + ce(logits.T, target)) / 2
        loss = loss + ce(towards, torch.tensor([*entities, *entities]), label_smoothing=0.05)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(tower.parameters(), 5.0)
        optimiser.step()
        step, images, total = step + 1, images + 2 * len(a), total + float(loss.detach())
        if used - shown >= minutes / 16:
            curve.append(
                {
                    "minutes": round(used, 1),
                    "step": step,
                    "images": images,
                    "loss": round(total / max(step - (curve[-1]["step"] if curve else 0), 1), 3),
                    **measure(tower, data),
                }
            )
            print(json.dumps(curve[-1]), flush=True)
            save(model, out)
            shown, total = used, 0.0
    curve.append(
        {"minutes": round(minutes, 1), "step": step, "images": images, **measure(tower, data)}
    )
    print(json.dumps(curve[-1]), flush=True)
    save(model, out)
    facts = {
        "seed": seed,
        "minutes": minutes,
        "threads": threads,
        "rate": rate,
        "begin": begin.name if begin else None,
        "families_per_batch": families,
        "data": data.meta,
        "curve": curve,
        "parameters": sum(p.numel() for p in tower.parameters()),
    }
    (out / "training.json").write_text(json.dumps(facts, indent=1) + "\n")


def measure(tower: Any, data: Data) -> dict[str, float]:
    """Recall of the right entity among all held-out ones, from a crop around the entity."""
    import torch

    tower.eval()
    plain, ego = data.held_out()
    with torch.inference_mode():
        a, b = (
            torch.cat(
                [
                    torch.nn.functional.normalize(tower(tensor(part)), dim=-1)
                    for part in np.array_split(images, max(len(images) // 64, 1))
                ]
            )
            for images in (plain, ego)
        )
    tower.train()
    scores = b @ a.T
    rank = (scores > scores.diagonal()[:, None]).sum(1)
    return {f"recall@{k}": round(float((rank < k).float().mean()), 3) for k in (1, 5, 10, 30)}


def save(model: Any, out: Path) -> None:
    """Weights in half precision and the configuration, as open_clip's `local-dir:` reads them."""
    import torch
    from safetensors.torch import save_file

    out.mkdir(parents=True, exist_ok=True)
    state = {
        k: v.detach().half().contiguous() if v.is_floating_point() else v
        for k, v in model.state_dict().items()
    }
    assert all(bool(torch.isfinite(v.float()).all()) for v in state.values())
    save_file(state, out / "open_clip_model.safetensors")
    (out / "open_clip_config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    one = parts.add_parser("prepare")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--families", type=int, default=16)
    one.add_argument("--variants", type=int, default=3)
    one.add_argument("--held-out", type=int, default=2)
    one.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    two = parts.add_parser("train")
    two.add_argument("data", type=Path)
    two.add_argument("--out", type=Path, default=Path("mmrag/encoders/data/world-rn"))
    two.add_argument("--minutes", type=float, default=30)
    two.add_argument("--families", type=int, default=16)
    two.add_argument("--seed", type=int, default=1)
    two.add_argument("--rate", type=float, default=2e-3)
    two.add_argument("--threads", type=int, default=2)
    two.add_argument("--begin", type=Path, help="Go on from the weights in this folder.")
    given = vars(parser.parse_args())
    if given.pop("part") == "prepare":
        prepare(**given)
    else:
        data = given.pop("data")
        train(data, **given)


if __name__ == "__main__":
    main()
