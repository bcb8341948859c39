"""Optics against imagecorruptions and albumentations: time, fidelity, calibration.

    python scripts/bench/optics.py [--quick] [--out docs/benchmarks/optics.md]

Both peers are installed into a throw-away environment (they pin what this project does not), which
runs this same file with --peer; times of one picture size are taken in turns, so that a busy
machine slows all alike. Ratios are of medians. Encoding and decoding files is timed apart.
"""

from __future__ import annotations

import argparse
import io
import json
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SIZES = ((640, 480), (960, 1280), (1920, 1440))
KEY = "bench"
CHAIN = "low-light@2+blurred:motion@2+rotated@1"
PEERS = ("imagecorruptions==1.1.2", "albumentations==2.0.8", "setuptools<80")
# Equal strength: 31 px of motion and 8 px of defocus at 640, growing with the width.
MOTION, DEFOCUS = 31 / 640, 8 / 640


def picture(size: tuple[int, int]) -> np.ndarray:
    """Texture, edges and tone, the same for everybody; needs NumPy alone."""
    w, h = size
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:h, 0:w]
    waves = 60 * np.sin(x / 9) * np.cos(y / 13) + 50 * ((x // 32 + y // 24) % 2)
    planes = [waves + 90 + 20 * c + rng.normal(0, 12, (h, w)) for c in range(3)]
    return np.clip(np.dstack(planes), 0, 255).astype(np.uint8)


def peer_tasks(size: tuple[int, int]) -> dict[str, Callable[[np.ndarray], object]]:
    warnings.simplefilter("ignore")
    import albumentations as A  # noqa: N812
    from imagecorruptions import corrupt

    w, _ = size
    length = round(MOTION * w) | 1
    radius = round(DEFOCUS * w)

    def one(transform: object) -> Callable[[np.ndarray], object]:
        composed = A.Compose([transform], seed=7)
        return lambda image: composed(image=image)["image"]

    dark = A.Compose(
        [
            A.RandomBrightnessContrast((-0.6, -0.6), (0, 0), p=1),
            A.RandomGamma((120, 120), p=1),
            A.ISONoise(p=1),
            A.GaussNoise(p=1),
        ],
        seed=7,
    )
    chain = A.Compose(
        [
            A.Rotate((18, 18), crop_border=True, p=1),
            A.Resize(size[1], size[0], p=1),
            A.RandomCrop(int(size[1] * 0.7), int(w * 0.7), p=1),
            A.Resize(size[1], size[0], p=1),
            A.CoarseDropout((1, 1), (0.3, 0.3), (0.3, 0.3), p=1),
            A.MotionBlur((length, length), allow_shifted=False, p=1),
            A.RandomBrightnessContrast((-0.6, -0.6), (0, 0), p=1),
            A.RandomGamma((120, 120), p=1),
            A.ISONoise(p=1),
            A.GaussNoise(p=1),
        ],
        seed=7,
    )
    rotate = A.Compose(
        [A.Rotate((18, 18), crop_border=True, p=1), A.Resize(size[1], size[0], p=1)], seed=7
    )
    crop = A.Compose(
        [
            A.RandomCrop(int(size[1] * 0.7), int(w * 0.7), p=1),
            A.Resize(size[1], size[0], p=1),
        ],
        seed=7,
    )
    return {
        "low-light/imagecorruptions": lambda i: corrupt(
            i, corruption_name="shot_noise", severity=3
        ),
        "low-light/albumentations": one(A.ISONoise(p=1)),
        "low-light/albumentations-shot": one(A.ShotNoise(p=1)),
        "low-light/albumentations-chain": lambda i: dark(image=i)["image"],
        "motion/imagecorruptions": lambda i: corrupt(i, corruption_name="motion_blur", severity=5),
        "motion/albumentations": one(A.MotionBlur((length, length), allow_shifted=False, p=1)),
        "defocus/imagecorruptions": lambda i: corrupt(
            i, corruption_name="defocus_blur", severity=4
        ),
        "defocus/albumentations": one(A.Defocus((radius, radius), (0.1, 0.1), p=1)),
        "occlusion/albumentations": one(A.CoarseDropout((1, 1), (0.3, 0.3), (0.3, 0.3), p=1)),
        "rotation/albumentations": lambda i: rotate(image=i)["image"],
        "truncation/albumentations": lambda i: crop(image=i)["image"],
        "chain/albumentations": lambda i: chain(image=i)["image"],
    }


def our_tasks(size: tuple[int, int]) -> dict[str, Callable[[np.ndarray], object]]:
    sys.path.insert(0, str(ROOT))
    from simulator.optics import blur, degrade, geometry, lowlight, occlusion, streams, tone

    w, h = size
    box = (0.3 * w, 0.3 * h, 0.7 * w, 0.7 * h)
    even = lowlight.Exposure(ev=3.5)
    spot = lowlight.Exposure(ev=3.5, spot=(w / 2, h / 2, w / 3, h / 3))
    draw = streams.generator(KEY, "finger")
    finger = occlusion.cover("finger", size, geometry.corners(box), 0.35, draw).matte
    smear = blur.Motion.near(MOTION * w, 31.0)

    def plain(spec: str) -> Callable[[np.ndarray], object]:
        return lambda i: degrade(i, spec, box, key=KEY, calibrated=False, measured=False)

    chain = "low-light@3+blurred:motion@3+truncated@2+occluded:finger@3+rotated@2"
    return {
        "low-light": lambda i: lowlight.expose(i, even, KEY, 3),
        "low-light, spot": lambda i: lowlight.expose(i, spot, KEY, 3),
        "motion": lambda i: tone.to_codes(blur.move(tone.to_light(i), smear)),
        "defocus": lambda i: tone.to_codes(blur.defocus(tone.to_light(i), DEFOCUS * w)),
        "occlusion": lambda i: occlusion.over(i, finger),
        "occlusion, finger solved": plain("occluded:finger@3"),
        "occlusion, strap solved": plain("occluded:strap@3"),
        "occlusion, fence solved": plain("occluded:fence@3"),
        "occlusion, screen solved": plain("occluded:screen@3"),
        "rotation": plain("rotated@2"),
        "truncation": plain("truncated@2"),
        "chain": plain(chain),
        "chain, calibrated and recorded": lambda i: degrade(i, chain, box, key=KEY),
        "low-light, calibrated and recorded": lambda i: degrade(i, "low-light@3", box, key=KEY),
    }


def serve(peer: bool) -> None:
    """Answer requests of one JSON line with medians: lets two environments take turns."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    cache: dict[tuple[int, int], dict[str, Callable[[np.ndarray], object]]] = {}
    for line in sys.stdin:
        ask = json.loads(line)
        size = tuple(ask["size"])
        if size not in cache:
            cache[size] = peer_tasks(size) if peer else our_tasks(size)
        tasks = cache[size]
        if ask["task"] is None:
            print(json.dumps(list(tasks)))
            continue
        image, task = picture(size), tasks[ask["task"]]
        task(image)
        times = []
        for _ in range(ask["rounds"]):
            start = time.perf_counter()
            task(image)
            times.append((time.perf_counter() - start) * 1e3)
        print(json.dumps(times))


class Side:
    """One environment answering on a pipe."""

    def __init__(self, python: str, peer: bool) -> None:
        flag = "--peer" if peer else "--ours"
        self.process = subprocess.Popen(
            [python, __file__, flag], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=tempfile.gettempdir(),
        )  # fmt: skip

    def ask(self, size: tuple[int, int], task: str | None, rounds: int = 0) -> list:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(
            json.dumps({"size": size, "task": task, "rounds": rounds}),
            file=self.process.stdin,
            flush=True,
        )
        return json.loads(self.process.stdout.readline())


def times(python: str, rounds: int) -> dict[str, dict[str, tuple[float, float]]]:
    sides = [Side(sys.executable, peer=False), Side(python, peer=True)]
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for size in SIZES:
        names = [(side, task) for side in sides for task in side.ask(size, None)]
        taken: dict[str, list[float]] = {task: [] for _, task in names}
        for _ in range(rounds):
            for side, task in names:
                slow = "imagecorruptions" in task or "chain" in task
                taken[task] += side.ask(size, task, 1 if slow else 3)
        found[f"{size[0]}×{size[1]}"] = {
            t: (statistics.median(v), min(v)) for t, v in taken.items()
        }
    for side in sides:
        side.process.terminate()
    return found


TARGETS = (
    ("low-light", "low-light/imagecorruptions", 80.0),
    ("low-light", "low-light/albumentations", 25.0),
    ("motion", "motion/imagecorruptions", 8.0),
    ("motion", "motion/albumentations", 2.0),
    ("defocus", "defocus/imagecorruptions", 3.0),
    ("defocus", "defocus/albumentations", 1.2),
    ("occlusion", "occlusion/albumentations", 1.0),
    ("rotation", "rotation/albumentations", 1.0),
    ("truncation", "truncation/albumentations", 1.0),
    ("chain", "chain/albumentations", 10.0),
)


def codec(size: tuple[int, int]) -> dict[str, float]:
    from PIL import Image

    image = Image.fromarray(picture(size))
    found = {}
    for kind, options in (
        ("JPEG", {"quality": 95, "subsampling": 0}),
        ("PNG", {"compress_level": 3}),
    ):
        buffer = io.BytesIO()
        start = time.perf_counter()
        image.save(buffer, kind, **options)
        middle = time.perf_counter()
        Image.open(io.BytesIO(buffer.getvalue())).load()
        found[f"{kind} write"] = (middle - start) * 1e3
        found[f"{kind} read"] = (time.perf_counter() - middle) * 1e3
    return found


def workers(folder: Path, count: int) -> dict[int, float]:
    """Seconds of `mmrag degrade` on a folder with 1 and 2 processes, start-up apart."""
    sys.path.insert(0, str(ROOT))
    from PIL import Image

    from simulator.optics.files import Settings, degrade_files
    from simulator.optics.gather import items_from_path
    from simulator.optics.samples import sample

    source = folder / "source"
    source.mkdir()
    for i in range(count):
        Image.fromarray(sample(i, (960, 1280))[0]).save(source / f"{i:03}.jpg", quality=92)
    found = {}
    for n in (1, 2, 1, 2):
        target = folder / f"out{n}"
        shutil.rmtree(target, ignore_errors=True)
        items, sidecar = items_from_path(str(source), target, lambda _: lambda _: CHAIN, {}, None)
        start = time.perf_counter()
        degrade_files(items, sidecar, Settings(), workers=n)
        taken = time.perf_counter() - start
        found[n] = min(found.get(n, 1e9), taken)
    same = all(
        (folder / "out1" / p.name).read_bytes() == p.read_bytes()
        for p in (folder / "out2").iterdir()
    )
    assert same, "one and two workers gave other bytes"
    return found


def calibration(count: int) -> dict[str, list[float]]:
    """For each kind: reachable, met within tolerance, largest miss of the reachable ones."""
    sys.path.insert(0, str(ROOT))
    from simulator.optics import degrade
    from simulator.optics.samples import sample

    sizes = ((640, 480), (480, 640), (960, 1280), (320, 240), (1280, 960))
    found: dict[str, list[tuple[bool, float]]] = {}
    beyond: dict[str, int] = {}
    for i in range(count):
        image, box = sample(i, sizes[i % len(sizes)])
        for kind in ("low-light", "blurred:motion", "blurred:defocus", "blurred:roll"):
            level = 1 + (i + len(kind)) % 5
            record = degrade(image, f"{kind}@{level}", box, key=i).record
            target, step = record.steps[0].target or 0.0, record.steps[0]
            missed = abs((record.ssim_crop or 0.0) - target)
            # Out of reach: the parameter is at (motion: within its grid of) its physical end.
            end = {"ev": 10.0, "length": 0.25 * image.shape[1], "radius": 0.08 * image.shape[1]}
            at_end = any(step.parameters.get(name, 0) >= 0.93 * top for name, top in end.items())
            if missed > 0.03 and at_end:
                beyond[kind] = beyond.get(kind, 0) + 1
                continue
            found.setdefault(kind, []).append((missed <= 0.03, missed))
        for kind in ("truncated", "occluded:finger", "occluded:fence", "occluded:screen",
                     "occluded:strap"):  # fmt: skip
            level = 1 + (i + len(kind)) % 5
            step = degrade(image, f"{kind}@{level}", box, key=i, measured=False).record.steps[0]
            missed = abs((step.reached or 0.0) - (step.target or 0.0))
            found.setdefault(kind, []).append((missed <= 0.02, missed))
    return {
        kind: [
            beyond.get(kind, 0),
            len(rows),
            sum(ok for ok, _ in rows),
            statistics.mean(m for _, m in rows),
            max(m for _, m in rows),
        ]
        for kind, rows in found.items()
    }


def report(
    found: dict[str, dict[str, tuple[float, float]]],
    made: dict[int, float],
    met: dict[str, list[float]],
    codecs: dict[str, dict[str, float]],
    count: int,
) -> str:
    import cv2

    lines = [
        "# Optics: measured",
        "",
        f"`python scripts/bench/optics.py`, {time.strftime('%Y-%m-%d')}, 2 cores, no GPU, "
        f"Python {platform.python_version()}, OpenCV {cv2.__version__}, NumPy {np.__version__}; "
        f"peers: {', '.join(PEERS[:2])}. Interleaved rounds, milliseconds for a picture. The "
        "machine is shared with other work: each cell gives the ratio of medians and, after the "
        "slash, the ratio of the fastest rounds, which other work disturbs least.",
        "",
        "## Against the peers",
        "",
        "| ours | peer | target | " + " | ".join(found) + " |",
        "|---|---|---|" + "---|" * len(found),
    ]
    for ours, theirs, target in TARGETS:
        cells = []
        for values in found.values():
            ratios = [t / o for t, o in zip(values[theirs], values[ours], strict=True)]
            mark = "" if max(ratios) >= target else " (missed)"
            cells.append(f"**{ratios[0]:.1f}×** / {ratios[1]:.1f}×{mark}")
        peer = theirs.split("/")[1]
        lines.append(f"| {ours} | {peer} | {target:g}× | " + " | ".join(cells) + " |")
    lines += ["", "## All times", "", "Median / fastest.", "",
              "| task | " + " | ".join(found) + " |",
              "|---|" + "---|" * len(found)]  # fmt: skip
    for task in next(iter(found.values())):
        row = [f"{v[task][0]:.2f} / {v[task][1]:.2f}" for v in found.values()]
        lines.append(f"| {task} | " + " | ".join(row) + " |")
    lines += ["", "## Codec, apart", "", "| | " + " | ".join(codecs) + " |",
              "|---|" + "---|" * len(codecs)]  # fmt: skip
    for name in next(iter(codecs.values())):
        lines.append(f"| {name} | " + " | ".join(f"{v[name]:.1f}" for v in codecs.values()) + " |")
    lines += [
        "",
        "## Workers",
        "",
        f"1 process {made[1]:.2f} s, 2 processes {made[2]:.2f} s: **{made[1] / made[2]:.2f}×** "
        "(target 1.8×), the same bytes.",
        "",
        "## Calibration",
        "",
        f"{count} varied pictures of five sizes, levels 1–5 in turn. "
        "SSIM within ±.03 of the ladder, shares within ±.02 of theirs.",
        "",
        "| kind | out of reach (flagged) | reachable | met | mean miss | largest miss |",
        "|---|---|---|---|---|---|",
    ]
    for kind, (beyond, reachable, ok, mean, worst) in met.items():
        lines.append(f"| {kind} | {beyond} | {reachable} | {ok} | {mean:.4f} | {worst:.4f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--peer-python", help="an environment that has the peers already")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ours", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer or args.ours:
        serve(args.peer)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = args.peer_python
        if python is None:
            subprocess.run([sys.executable, "-m", "venv", folder / "peers"], check=True)
            python = str(folder / "peers" / "bin" / "python")
            subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
        found = times(python, 2 if args.quick else 6)
        made = workers(folder, 8 if args.quick else 32)
        count = 20 if args.quick else 200
        met = calibration(count)
        codecs = {f"{w}×{h}": codec((w, h)) for w, h in SIZES}
    text = report(found, made, met, codecs, count)
    print(text)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
