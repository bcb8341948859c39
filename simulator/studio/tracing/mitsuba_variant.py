"""Mitsuba as fast as this machine can run it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sysconfig
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

from mmrag.errors import Unavailable, UsageError
from simulator.studio import INSTALL

_OLDEST = 19
_PROCESSOR = Path("/proc/cpuinfo")
_CACHED = 64 << 20
"""Bytes of compiled kernels that are kept."""


NO_LLVM = (
    "no LLVM was found, so pictures take about twenty times as long: `pip install "
    "karellen-llvm-core` (Linux on x86-64), or let DRJIT_LIBLLVM_PATH name a libLLVM of version "
    f"{_OLDEST} or newer."
)
"""Why it is slow, and the cure."""


class SlowRendererWarning(UserWarning):
    """Pictures will be right, and take twenty times as long."""


@lru_cache(maxsize=1)
def mitsuba() -> Any:
    """Mitsuba with the fastest variant that this machine can run.

    `MMRAG_KERNELS` plays an older one: `avx2`, or `none` for one without LLVM.
    """
    _refuse_old_processors(_PROCESSOR)
    played = os.environ.get("MMRAG_KERNELS")
    llvm = None if played == "none" else find_llvm()
    _keep_kernels()
    try:
        import mitsuba as mi
    except ImportError as error:
        raise Unavailable(
            f"mitsuba, which draws the pictures, cannot be loaded ({error}): run "
            f"`{INSTALL}`, or write the world with --text-only."
        ) from error
    if llvm is None:
        if played != "none":
            warnings.warn(NO_LLVM, SlowRendererWarning, stacklevel=2)
        mi.set_variant("scalar_rgb")
        return mi
    mi.set_variant("llvm_ad_rgb")
    _refuse_old_llvm()
    if played == "avx2":
        _compile_for_avx2()
    return mi


def _refuse_old_processors(told: Path) -> None:
    """Mitsuba is compiled for AVX2: without it the process would end with no word of why."""
    with contextlib.suppress(OSError):  # another system tells nothing
        flags = re.findall(r"^flags\s*:(.*)$", told.read_text(errors="replace"), re.MULTILINE)
        if any("avx2" not in line.split() for line in flags):
            raise Unavailable(
                "this processor lacks AVX2, without which the renderer cannot run: write the "
                "world on another machine, or with --text-only."
            )


def find_llvm() -> Path | None:
    """The LLVM to be used: the user's own, else the package's; none is slow, and not wrong."""
    if given := os.environ.get("DRJIT_LIBLLVM_PATH"):
        return _loadable(Path(given))
    lib = Path(sysconfig.get_path("data")) / "lib"
    names = ("libunwind.so.1.0", "libc++abi.so.1.0", "libc++.so.1.0", "libLLVM.so.*")
    places = [lib, *lib.glob("*-linux-gnu")]
    found = [next((p for at in places for p in sorted(at.glob(n))), None) for n in names]
    paths = [path for path in found if path is not None]
    if len(paths) < len(names):
        return None
    try:
        for path in paths:  # each needs the one before; not RTLD_GLOBAL: torch would take them too
            ctypes.CDLL(str(path))
    except OSError:  # made for another sort of machine
        return None
    os.environ["DRJIT_LIBLLVM_PATH"] = str(paths[-1])
    return paths[-1]


def _loadable(given: Path) -> Path:
    try:
        ctypes.CDLL(str(given))
    except OSError as error:
        raise UsageError(
            f"DRJIT_LIBLLVM_PATH names {given}, which cannot be loaded ({error}): let it name a "
            "libLLVM.so of version 19 or newer, or unset it to use the package's."
        ) from error
    return given


def _keep_kernels() -> None:
    """Compiled kernels are kept where all that can be made again is, up to a bound."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "mmrag" / "kernels"
    with contextlib.suppress(OSError):  # without a place they are compiled by every process
        folder.mkdir(parents=True, exist_ok=True)
        os.environ.setdefault("DRJIT_CACHE_DIR", str(folder))
    os.environ.setdefault("DRJIT_CACHE_MAXSIZE", str(_CACHED))


def _compile_for_avx2() -> None:
    """Kernels take eight numbers at a time, as on the oldest processor that Mitsuba runs on."""
    import drjit

    core = ctypes.CDLL(str(Path(drjit.__file__).parent / "libdrjit-core.so"))
    core._Z19jit_llvm_set_targetPKcS0_j(b"haswell", b"+avx2,+fma", 8)


def _refuse_old_llvm() -> None:
    """LLVM 15 and 16 end the process when they are to compile for AVX-512."""
    import drjit

    version: tuple[int, ...] = drjit.detail.llvm_version()
    if version[0] < _OLDEST:
        raise Unavailable(
            f"Dr.Jit has loaded LLVM {version[0]}, which cannot compile the renderer's kernels: "
            "import simulator.world before drjit and mitsuba, or let DRJIT_LIBLLVM_PATH name a "
            f"libLLVM of version {_OLDEST} or newer."
        )
