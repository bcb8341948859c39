"""Which device a model runs on, and numbers of which size."""

from __future__ import annotations

import os
from typing import Any

from mmrag.errors import SpecError

PRECISIONS = ("auto", "full")
"""What the encoders' option `precision` takes."""


def choose_device() -> str:
    """cuda, mps or cpu, the first that is here. Call it before anything else imports torch."""
    # Threads that spin while they wait for each other make small batches twenty times slower
    # (measured) whenever something else runs on the machine. Read once, when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def choose_dtype(device: str, precision: str) -> Any:
    """Numbers of half the size where the device multiplies matrices of them natively.

    That is every CUDA device, and processors with AMX or AVX-512 BF16, where the built-in encoders
    are faster for cosines that differ by some thousandths (docs/benchmarks/search.md). `full` keeps
    32 bits: for vectors that must be alike on every machine.
    """
    import torch

    if precision not in PRECISIONS:
        raise SpecError(f"precision={precision}: not one of {', '.join(PRECISIONS)}.")
    if precision == "full":
        return torch.float32
    if device == "cuda":
        return torch.float16
    known = torch.cpu.get_capabilities() if device == "cpu" else {}
    has_halves = known.get("amx_bf16", False) or known.get("avx512_bf16", False)
    return torch.bfloat16 if has_halves else torch.float32


def revision_mark(revision: str, precision: str) -> str:
    """The revision as ids name it: vectors of 32 bits by demand are kept apart from all others."""
    return f"{revision}+full" if precision == "full" else revision
