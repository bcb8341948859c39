"""Links: bytes and seconds against arithmetic by hand, and print of several heights read after.

    python scripts/bench/link.py [--count 20] [--seed 1000]

Words of a seed that nothing was tuned on are printed on the mini world's pictures, sent, and read
by RapidOCR; a line counts as read when its letters and figures are those that were printed.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mmrag.agents.grounded.ocr import RapidOcr
from simulator.link.device_profiles import read_links
from simulator.link.sending import send
from simulator.parts.run_parts import Parts
from simulator.run.run_config import RunConfig

HEIGHTS = (8, 12, 16, 24)
LINKS = "radio:whole,radio:downscaled,radio:text,radio:burst,stream:whole,stream:text,photo:whole"


def font_of(height: int) -> ImageFont.FreeTypeFont:
    """A font whose H has that many pixels."""
    for size in range(6, 80):
        font = ImageFont.load_default(size)
        _, top, _, bottom = font.getbbox("H")
        if bottom - top >= height:
            return font
    raise AssertionError(height)


def printed(picture: Image.Image, height: int, draw: random.Random) -> tuple[np.ndarray, str]:
    """A white sign of one line somewhere in the picture."""
    letters = "".join(draw.choice("BCDEFHKLMNPRSTUVXZ") for _ in range(5))
    text = f"{letters} {draw.randrange(100, 1000)}"
    font = font_of(height)
    left, top, right, bottom = font.getbbox(text)
    wide, high = round(right - left + 2 * height), round(bottom - top + 2 * height)
    x, y = draw.randrange(picture.width - wide), draw.randrange(picture.height - high)
    done = picture.convert("RGB").copy()
    pen = ImageDraw.Draw(done)
    pen.rectangle((x, y, x + wide, y + high), (236, 234, 228))
    pen.text((x + height - left, y + height - top), text, (25, 25, 30), font)
    return np.asarray(done), text


def is_read(data: bytes, text: str, reader: RapidOcr) -> bool:
    """Whether one of the lines that are read is what was printed."""
    bare = "".join(c for c in text if c.isalnum())
    lines = reader.read(Image.open(io.BytesIO(data)).convert("RGB"))
    return any("".join(c for c in one.text.upper() if c.isalnum()) == bare for one in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1000)
    args = parser.parse_args()
    sessions = [s for _, s in Parts(RunConfig(limit=args.count)).sessions()]
    pictures = [s.capture.image.pil() for s in sessions if s.capture]
    links, reader = read_links(LINKS), RapidOcr()
    largest = 0.0
    rows: dict[str, list[str]] = {name: [] for name in ("unsent", *links.names)}
    sizes: dict[str, list[int]] = {name: [] for name in links.names}
    waits: dict[str, list[float]] = {name: [] for name in links.names}
    for height in HEIGHTS:
        found = dict.fromkeys(rows, 0)
        for n in range(args.count):
            draw = random.Random(args.seed + n)
            image, text = printed(pictures[n % len(pictures)], height, draw)
            png = io.BytesIO()
            Image.fromarray(image).save(png, "PNG")
            found["unsent"] += is_read(png.getvalue(), text, reader)
            for name in links.names:
                profile, policy = name.split(":")
                known = links.profiles[profile]
                sent = send(image, known, policy, None, key=f"{args.seed}/{n}")
                found[name] += is_read(sent.data, text, reader)
                by_hand = known.start_seconds + known.stall_seconds
                by_hand += len(sent.data) / known.bytes_per_second / (1 - known.loss)
                by_hand += known.stage_seconds * (policy in ("thing", "text"))
                by_hand += known.frame_seconds * (known.frames - 1) * (policy == "burst")
                largest = max(largest, abs(by_hand - sent.record["seconds"]))
                sizes[name].append(len(sent.data))
                waits[name].append(sent.record["seconds"])
        for name, many in found.items():
            rows[name].append(f"{many}/{args.count}")
        print(height, found, file=sys.stderr, flush=True)
    heights = " | ".join(f"{height} px" for height in HEIGHTS)
    print(f"{time.strftime('%Y-%m-%d')}, seed {args.seed}: seconds by hand differ by {largest:.0e}")
    print(f"\n| link | bytes | s | {heights} |\n|---|--:|--:|{'--:|' * len(HEIGHTS)}")
    for name, cells in rows.items():
        size = (
            f"{np.mean(sizes[name]):,.0f} | {np.mean(waits[name]):.2f}" if name in sizes else " | "
        )
        print(f"| {name} | {size} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
