"""Dynamic batching: sixteen conversations together against one by one, answers compared.

python scripts/bench/local_models.py MODEL_FOLDER [--tokens 32] [--rounds 3]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time

import numpy as np
from PIL import Image

from mmrag.files.images import LazyImage
from mmrag.models.local import LocalModel
from mmrag.protocols import GenerateOptions, Message


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    model = LocalModel(name=chosen.folder, batch=16)
    options = GenerateOptions(max_tokens=chosen.tokens)
    asked = [_message(i) for i in range(16)]

    async def together():
        return await asyncio.gather(*(model.generate(m, options) for m in asked))

    async def alone():
        return [await model.generate(m, options) for m in asked]

    asyncio.run(together())
    ratios, same = [], True
    for _ in range(chosen.rounds):
        began = time.perf_counter()
        one = asyncio.run(alone())
        middle = time.perf_counter()
        many = asyncio.run(together())
        ratios.append((middle - began) / (time.perf_counter() - middle))
        same &= [c.text for c in one] == [c.text for c in many]
    print(json.dumps({"faster": round(statistics.median(ratios), 2), "identical": same}))


def _message(i: int) -> list[Message]:
    pixels = np.random.Generator(np.random.Philox(i)).integers(0, 256, (56, 56, 3)).astype(np.uint8)
    picture = LazyImage.from_pil(Image.fromarray(pixels))
    return [Message(role="user", text=f"what is this, number {i}", images=(picture,))]


if __name__ == "__main__":
    main()
