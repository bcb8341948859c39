"""Optics against imagecorruptions and albumentations: time, workers, fidelity of the levels.

    python scripts/bench/optics.py [--only speed]     # or workers, fidelity; each within 9 minutes

Both peers are installed into an environment of their own (they pin what this project does not),
which runs this same file with --peer. A task and its peers take turns in every round, everybody
has one thread, and its processor time counts, so that a busy machine disturbs little. What is done
is kept in --state (artefacts/bench-optics unless said): the same command again does what is
missing, --fresh starts again.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    cut_out = A.Compose([A.OverlayElements("overlay_metadata", p=1)], seed=7)
    y, x = np.mgrid[0:256, 0:256]
    overlay = {
        "image": np.full((256, 256, 3), (190, 150, 120), np.uint8),
        "mask": ((x - 128) ** 2 + (y - 128) ** 2 < 120**2).astype(np.uint8),
        "bbox": [0.35, 0.35, 0.75, 0.95],
    }
    return {
        "low-light/imagecorruptions": lambda i: corrupt(
            i, corruption_name="shot_noise", severity=3
        ),
        "low-light/albumentations": one(A.ISONoise(p=1)),
        "motion/imagecorruptions": lambda i: corrupt(i, corruption_name="motion_blur", severity=5),
        "motion/albumentations": one(A.MotionBlur((length, length), allow_shifted=False, p=1)),
        "defocus/imagecorruptions": lambda i: corrupt(
            i, corruption_name="defocus_blur", severity=4
        ),
        "defocus/albumentations": one(A.Defocus((radius, radius), (0.1, 0.1), p=1)),
        "occlusion/albumentations": one(A.CoarseDropout((1, 1), (0.3, 0.3), (0.3, 0.3), p=1)),
        "occlusion/albumentations OverlayElements": lambda i: cut_out(
            image=i, overlay_metadata=overlay
        )["image"],
        "occlusion/albumentations GridDropout": one(A.GridDropout(0.35, p=1)),
        "rotation/albumentations": lambda i: rotate(image=i)["image"],
        "truncation/albumentations": lambda i: crop(image=i)["image"],
        "chain/albumentations": lambda i: chain(image=i)["image"],
        "resampled/albumentations": one(
            A.Downscale((0.25, 0.25), {"downscale": 3, "upscale": 1}, p=1)
        ),
        "resampled/imagecorruptions": lambda i: corrupt(i, corruption_name="pixelate", severity=5),
        "codec/albumentations": one(A.ImageCompression("jpeg", (10, 10), p=1)),
        "codec/imagecorruptions": lambda i: corrupt(
            i, corruption_name="jpeg_compression", severity=4
        ),
        "denoised/albumentations MedianBlur": one(A.MedianBlur((31, 31), p=1)),
        "wb/albumentations": one(A.PlanckianJitter("blackbody", (4400, 6500), "uniform", p=1)),
        "flare/albumentations": one(A.RandomSunFlare(method="physics_based", p=1)),
    }


def our_tasks(size: tuple[int, int]) -> dict[str, Callable[[np.ndarray], object]]:
    sys.path.insert(0, str(ROOT))
    from simulator.optics import degrade, streams
    from simulator.optics.light import blur, lowlight, tone
    from simulator.optics.shape import geometry, occlusion

    w, h = size
    box = (0.3 * w, 0.3 * h, 0.7 * w, 0.7 * h)
    even = lowlight.Exposure(ev=3.5)
    smear = blur.Motion.near(MOTION * w, 31.0)
    matte = {
        kind: occlusion.cover(
            kind, size, geometry.corners(box), 0.35, streams.generator(KEY, kind)
        ).matte
        for kind in ("finger", "fence")
    }
    x0, y0, cw, ch = round(0.1 * w), round(0.2 * h), round(0.7 * w), round(0.7 * h)
    window = np.array([[w / cw, 0, -x0 * w / cw], [0, h / ch, -y0 * h / ch], [0, 0, 1.0]])

    def plain(spec: str) -> Callable[[np.ndarray], object]:
        return lambda i: degrade(i, spec, box, key=KEY, calibrated=False, measured=False)

    def full(spec: str) -> Callable[[np.ndarray], object]:
        return lambda i: degrade(i, spec, box, key=KEY)

    chain = "low-light@3+blurred:motion@3+truncated@2+occluded:finger@3+rotated@2"
    return {
        "low-light": lambda i: lowlight.expose(i, even, KEY, 3),
        "motion": lambda i: tone.to_codes(blur.move(tone.to_light(i), smear)),
        "defocus": lambda i: tone.to_codes(blur.defocus(tone.to_light(i), DEFOCUS * w)),
        "occlusion, placed": lambda i: occlusion.over(i, matte["finger"]),
        "fence, placed": lambda i: occlusion.over(i, matte["fence"]),
        "truncation, placed": lambda i: geometry.warp(i, window),
        "low-light, as a user calls it": plain("low-light@3"),
        "occlusion": plain("occluded:finger@3"),
        "rotation": plain("rotated@2"),
        "truncation": plain("truncated@2"),
        "chain": plain(chain),
        "low-light, calibrated and recorded": full("low-light@3"),
        "motion, calibrated and recorded": full("blurred:motion@3"),
        "defocus, calibrated and recorded": full("blurred:defocus@3"),
        "chain, calibrated and recorded": full(chain),
        "resampled": plain("resampled:soft@3"),
        "codec": plain("codec:jpeg@3"),
        "denoised": plain("denoised@3"),
        "wb": plain("wb:warm@3"),
        "flare": plain("flare@3"),
        "codec, calibrated and recorded": full("codec:jpeg@2"),
        "denoised, calibrated and recorded": full("denoised@3"),
        "flare, calibrated and recorded": full("flare@3"),
    }


def serve(peer: bool) -> None:
    """Answer requests of one JSON line with times: lets two environments take turns."""
    import cv2

    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    tasks: dict[str, Callable[[np.ndarray], object]] = {}
    image, now = np.empty(0), None
    for line in sys.stdin:
        size, name, calls = json.loads(line)
        if size != now:
            image, now = picture(tuple(size)), size
            tasks = peer_tasks(tuple(size)) if peer else our_tasks(tuple(size))
            cv2.setNumThreads(1)
            for task in tasks.values():
                task(image)
        times = []
        for _ in range(calls):
            start = time.process_time()
            tasks[name](image)
            times.append((time.process_time() - start) * 1e3)
        print(json.dumps(min(times)))


class Side:
    """One environment answering on a pipe."""

    def __init__(self, python: str, flag: str) -> None:
        self.process = subprocess.Popen(
            [python, __file__, flag], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=tempfile.gettempdir(), env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip

    def ask(self, size: tuple[int, int], task: str) -> float:
        """The fastest of three calls in milliseconds."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps([size, task, 3]), file=self.process.stdin, flush=True)
        return float(json.loads(self.process.stdout.readline()))


COMPARED: dict[str, dict[str, float | None]] = {
    "low-light": {"low-light/imagecorruptions": 80, "low-light/albumentations": 25},
    "motion": {"motion/imagecorruptions": 8, "motion/albumentations": 2},
    "defocus": {"defocus/imagecorruptions": 3, "defocus/albumentations": 1.2},
    "rotation": {"rotation/albumentations": 1},
    "truncation": {"truncation/albumentations": 1},
    "truncation, placed": {"truncation/albumentations": None},
    "occlusion": {"occlusion/albumentations": 1},
    "occlusion, placed": {
        "occlusion/albumentations": None,
        "occlusion/albumentations OverlayElements": None,
    },
    "fence, placed": {"occlusion/albumentations GridDropout": None},
    "chain": {"chain/albumentations": 10},
    "chain, calibrated and recorded": {"chain/albumentations": None},
    "low-light, as a user calls it": {"low-light/albumentations": None},
    "low-light, calibrated and recorded": {"low-light/albumentations": None},
    "motion, calibrated and recorded": {"motion/albumentations": None},
    "defocus, calibrated and recorded": {"defocus/albumentations": None},
    "resampled": {"resampled/albumentations": None, "resampled/imagecorruptions": None},
    "codec": {"codec/albumentations": None, "codec/imagecorruptions": None},
    "denoised": {"denoised/albumentations MedianBlur": None},
    "wb": {"wb/albumentations": None},
    "flare": {"flare/albumentations": None},
    "codec, calibrated and recorded": {"codec/albumentations": None},
    "denoised, calibrated and recorded": {"denoised/albumentations MedianBlur": None},
    "flare, calibrated and recorded": {"flare/albumentations": None},
}
"""Ours → peers, each with its target; rows without one stand for comparison."""


def speed(python: str, size: tuple[int, int], rounds: int) -> dict[str, list[float]]:
    """Task → its time in every round."""
    ours, peers = Side(sys.executable, "--ours"), Side(python, "--peer")
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        for task, others in COMPARED.items():
            pairs = [(ours, task), *((peers, other) for other in others)]
            for side, name in pairs:
                taken.setdefault(f"{task} | {name}", []).append(side.ask(size, name))
    for side in (ours, peers):
        side.process.terminate()
    return taken


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


def workers(count: int) -> dict[str, float]:
    """Seconds for a folder with 1 and 2 processes, with and without start, and processor time.

    Every measurement is a process of its own: tables that an earlier one left would help the first
    process and not the others.
    """
    sys.path.insert(0, str(ROOT))
    from PIL import Image

    from simulator.optics.files.samples import sample

    few = max(4, count // 6)
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        for group, number in (("few", few), ("all", count)):
            (home / group).mkdir()
            for i in range(number):
                picture, _ = sample(i, (960, 1280))
                Image.fromarray(picture).save(home / group / f"{i:03}.jpg", quality=92)
        for _ in range(3):
            for group in ("few", "all"):
                for n in (1, 2):
                    target = home / f"{group}{n}"
                    shutil.rmtree(target, ignore_errors=True)
                    done = subprocess.run(
                        [sys.executable, __file__, "--folder", home / group, target, str(n)],
                        check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
                    )  # fmt: skip
                    taken, used = json.loads(done.stdout)
                    for key, value in ((f"{group} {n}", taken), (f"cpu {group} {n}", used)):
                        found[key] = min(found.get(key, 1e9), value)
        same = all(
            (home / "all1" / p.name).read_bytes() == p.read_bytes()
            for p in (home / "all2").glob("*.jpg")
        )
        assert same, "one and two workers gave other bytes"
    for n in (1, 2):
        found[f"each {n}"] = (found[f"all {n}"] - found[f"few {n}"]) / (count - few)
    return {"count": count, **found}


def folder(source: str, target: str, processes: int) -> None:
    """Degrade a folder; print the seconds that it took and the processor's."""
    sys.path.insert(0, str(ROOT))
    from simulator.optics.files.folders import Settings, degrade_files
    from simulator.optics.files.picture_sources import items_from_path

    items, sidecar = items_from_path(source, Path(target), lambda _: lambda _: CHAIN, {}, None)
    before, start = sum(os.times()[:4]), time.perf_counter()
    degrade_files(items, sidecar, Settings(), workers=processes)
    print(json.dumps([time.perf_counter() - start, sum(os.times()[:4]) - before]))


PHOTOMETRIC = ("low-light", "blurred:motion", "blurred:defocus", "blurred:roll")
SHARES = ("truncated", "occluded:finger", "occluded:fence", "occluded:screen", "occluded:strap")


def fidelity(first: int, count: int) -> dict[str, list[list[float]]]:
    """Kind → (1 where the parameter stands at its end, miss) of every picture."""
    sys.path.insert(0, str(ROOT))
    from simulator.optics import degrade
    from simulator.optics.files.samples import sample

    sizes = ((640, 480), (480, 640), (960, 1280), (320, 240), (1280, 960))
    found: dict[str, list[list[float]]] = {}
    for i in range(first, first + count):
        image, box = sample(i, sizes[i % len(sizes)])
        # Motion lengths are whole vectors times powers of two: the last one may be just below.
        ends = {"ev": 10.0, "length": 0.25 * image.shape[1], "radius": 0.08 * image.shape[1]}
        for kind in PHOTOMETRIC:
            level = 1 + (i + i // 5 + len(kind)) % 5
            record = degrade(image, f"{kind}@{level}", box, key=i).record
            step = record.steps[0]
            at_end = any(step.parameters.get(n, 0) >= 0.93 * top for n, top in ends.items())
            assert record.ssim_crop is not None
            assert step.target is not None
            found.setdefault(kind, []).append([at_end, abs(record.ssim_crop - step.target)])
        for kind in SHARES:
            level = 1 + (i + i // 5 + len(kind)) % 5
            step = degrade(image, f"{kind}@{level}", box, key=i, measured=False).record.steps[0]
            assert step.reached is not None
            assert step.target is not None
            found.setdefault(kind, []).append([step.clamped, abs(step.reached - step.target)])
    return found


def report(state: dict[str, Any]) -> str:
    """The tables of docs/benchmarks/optics.md."""
    sized = {k.removeprefix("speed "): v for k, v in state.items() if k.startswith("speed ")}
    lines = _speed_lines(sized) if sized else []
    if made := state.get("workers"):
        lines += _worker_lines(made)
    if parts := [v for k, v in state.items() if k.startswith("fidelity ")]:
        lines += _fidelity_lines(parts)
    return "\n".join(lines)


def _speed_lines(sized: dict[str, Any]) -> list[str]:
    lines = [f"{size}: {_provenance(part)}" for size, part in sized.items()]
    lines += ["", "| ours | peer | target | " + " | ".join(sized) + " |",
              "|---|---|---|" + "---|" * len(sized)]  # fmt: skip
    for task, others in COMPARED.items():
        for other, target in others.items():
            cells = []
            for part in sized.values():
                mine, theirs = (part["found"][f"{task} | {n}"] for n in (task, other))
                ratio = statistics.median(t / m for m, t in zip(mine, theirs, strict=True))
                best = min(theirs) / min(mine)
                mark = "" if target is None or ratio >= target else " missed"
                cells.append(f"**{ratio:.3g}×** {best:.3g}×{mark}")
            wanted = "" if target is None else f"{target:g}×"
            peer = other.partition("/")[2]
            lines.append(f"| {task} | {peer} | {wanted} | " + " | ".join(cells) + " |")
    lines += ["", "Milliseconds, median (fastest):", "", "| | " + " | ".join(sized) + " |",
              "|---|" + "---|" * len(sized)]  # fmt: skip
    names = {n: f"{task} | {n}" for task, others in COMPARED.items() for n in (task, *others)}
    for name, key in names.items():
        values = [part["found"][key] for part in sized.values()]
        row = [f"{statistics.median(v):.2f} ({min(v):.2f})" for v in values]
        lines.append(f"| {name} | " + " | ".join(row) + " |")
    codecs = {size: part["codec"] for size, part in sized.items()}
    for name in next(iter(codecs.values())):
        row = [f"{v[name]:.1f}" for v in codecs.values()]
        lines.append(f"| codec, in none of the above: {name} | " + " | ".join(row) + " |")
    return [*lines, ""]


def _worker_lines(made: dict[str, Any]) -> list[str]:
    found = made["found"]
    whole = found["all 1"] / found["all 2"]
    each = found["each 1"] / found["each 2"]
    return [
        f"Workers: {_provenance(made)}. {found['count']:.0f} pictures: one process "
        f"{found['all 1']:.2f} s, two {found['all 2']:.2f} s: {whole:.2f}×. Without the start of "
        f"the processes {found['each 1'] * 1e3:.0f} and {found['each 2'] * 1e3:.0f} ms a picture: "
        f"{each:.2f}×. Processor time {found['cpu all 1']:.2f} and {found['cpu all 2']:.2f} s.",
        "",
    ]


def _fidelity_lines(parts: list[dict[str, Any]]) -> list[str]:
    rows: dict[str, list[list[float]]] = {}
    for part in parts:
        for kind, found in part["found"].items():
            rows.setdefault(kind, []).extend(found)
    lines = [
        f"Calibration: {_provenance(parts[-1])}, {len(rows['low-light'])} pictures.",
        "",
        "| kind | out of reach | reachable | met | mean miss | largest miss |",
        "|---|---|---|---|---|---|",
    ]
    for kind, found in rows.items():
        bound = 0.03 if kind in PHOTOMETRIC else 0.02
        near = [miss for at_end, miss in found if not (at_end and miss > bound)]
        met = sum(miss <= bound for miss in near)
        lines.append(
            f"| {kind} | {len(found) - len(near)} | {len(near)} | {met} | "
            f"{statistics.mean(near):.4f} | {max(near):.4f} |"
        )
    return [*lines, ""]


def _provenance(part: dict[str, Any]) -> str:
    low, high = part["load"]
    return f"{part['date']}, load {low:.1f} before and {high:.1f} after"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    parser.add_argument("--only", choices=("speed", "workers", "fidelity"))
    parser.add_argument("--tasks", default="", help="only what starts with one of these, a,b,...")
    parser.add_argument("--state", type=Path, default=ROOT / "artefacts" / "bench-optics")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured")
    parser.add_argument("--peer-python", help="an environment that has the peers already")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ours", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.folder:
        folder(args.folder[0], args.folder[1], int(args.folder[2]))
        return
    if args.peer or args.ours:
        serve(args.peer)
        return
    for task in [t for t in COMPARED if not t.startswith(tuple(args.tasks.split(",")))]:
        del COMPARED[task]
    path = args.state / "state.json"
    state: dict[str, Any] = {}
    if path.exists() and not args.fresh:
        state = json.loads(path.read_text(encoding="utf-8"))
    args.state.mkdir(parents=True, exist_ok=True)

    def part(name: str, work: Callable[[], dict[str, Any]]) -> None:
        if name in state or args.only not in (None, name.split()[0]):
            return
        print(f"{name} ...", file=sys.stderr, flush=True)
        before = os.getloadavg()[0]
        done = work()
        load = [before, os.getloadavg()[0]]
        state[name] = {"date": time.strftime("%Y-%m-%d"), "load": load, **done}
        path.write_text(json.dumps(state), encoding="utf-8")

    for w, h in SIZES:
        rounds = 2 if args.quick else 10 if w < 1000 else 6

        def compare(size: tuple[int, int] = (w, h), rounds: int = rounds) -> dict[str, Any]:
            python = args.peer_python or _peers(args.state)
            return {"found": speed(python, size, rounds), "codec": codec(size)}

        part(f"speed {w}×{h}", compare)
    part("workers", lambda: {"found": workers(12 if args.quick else 60)})
    count = 20 if args.quick else 200
    for first in range(0, count, 20):
        part(f"fidelity {first}", lambda first=first: {"found": fidelity(first, 20)})
    print(report(state))


def _peers(folder: Path) -> str:
    """An interpreter with both peers; it stays in the state's folder until that is removed."""
    home = folder / "peers"
    python = str(home / "bin" / "python")
    if not (home / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
        (home / "complete").touch()
    return python


if __name__ == "__main__":
    main()
