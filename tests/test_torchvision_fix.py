"""The cure runs in a process of its own, because an import cannot be undone."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.proof("time")
def test_open_clip_imports_after_the_cure() -> None:
    out = run(
        "from mmrag.torchvision_fix import ensure_torchvision\n"
        "ensure_torchvision(); ensure_torchvision()\n"
        "import open_clip, torchvision.transforms as t\n"
        "print(t.Resize.__name__, open_clip.__name__)"
    )
    assert out.split() == ["Resize", "open_clip"]


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
        "    from transformers import AutoModel\n"
        "    got.append(AutoModel.__name__)\n"
        "threads = [threading.Thread(target=lambda: (gate.wait(), load())) for _ in range(4)]\n"
        "[t.start() for t in threads]\n"
        "[t.join() for t in threads]\n"
        "print(*got)"
    )
    assert out.split() == ["AutoModel"] * 4


def test_every_loader_waits() -> None:
    from mmrag.encoders import image, text
    from mmrag.models import local
    from mmrag.search.web.rerank import CrossEncoderReranker

    for load in (image._load, text._load, local._load, CrossEncoderReranker.__init__):
        assert hasattr(load, "__wrapped__"), load
