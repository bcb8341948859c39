"""The cure runs in a process of its own, because an import cannot be undone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_healthy_torchvision_is_left_alone() -> None:
    out = run(
        "import sys, types\n"
        "sys.modules['torchvision'] = healthy = types.ModuleType('torchvision')\n"
        "from mmrag.torchvision_fix import ensure_torchvision\n"
        "ensure_torchvision()\n"
        "print(sys.modules['torchvision'] is healthy, 'torch' in sys.modules)"
    )
    assert out.split() == ["True", "False"]


@pytest.mark.proof("time")
def test_threads_that_load_at_once_wait_for_each_other() -> None:
    out = run(
        "import threading\n"
        "from mmrag.torchvision_fix import ensure_torchvision, one_at_a_time\n"
        "gate, got = threading.Barrier(4), []\n"
        "@one_at_a_time\n"
        "def load():\n"
        "    ensure_torchvision()\n"
        "    import open_clip, torchvision.transforms\n"
        "    from transformers import AutoModel\n"
        "    got.append(AutoModel.__name__)\n"
        "threads = [threading.Thread(target=lambda: (gate.wait(), load())) for _ in range(4)]\n"
        "[t.start() for t in threads]\n"
        "[t.join() for t in threads]\n"
        "print(*got)"
    )
    assert out.split() == ["AutoModel"] * 4


def test_every_loader_waits() -> None:
    """Whatever imports a library that imports its parts lazily does so one at a time."""
    lazy, loaders = {"transformers", "open_clip", "sentence_transformers"}, 0
    for path in (Path(__file__).parents[1] / "mmrag").rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            imported = {
                name.partition(".")[0]
                for node in ast.walk(function)
                for name in (
                    [node.module or ""] if isinstance(node, ast.ImportFrom)
                    else [alias.name for alias in node.names] if isinstance(node, ast.Import)
                    else []
                )
            }  # fmt: skip
            if imported & lazy:
                loaders += 1
                decorators = {ast.unparse(one) for one in function.decorator_list}
                assert "one_at_a_time" in decorators, f"{path}: {function.name}"
    assert loaders >= 4
