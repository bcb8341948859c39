"""Make `import torchvision` work beside a CPU build of torch.

The registry carries torchvision 0.28.0 as a CUDA build only. Its compiled part does not load
beside a CPU torch, and importing it then dies with "operator torchvision::nms does not exist",
because it registers fake kernels for operators whose schemas were never defined. open_clip and
parts of transformers import torchvision, so they die with it. Defining the two schemas first is
enough: nothing here runs those operators.

Call `ensure_torchvision()` before any import that may reach torchvision. Where the pair is
healthy it changes nothing.
"""

from __future__ import annotations

import importlib
import sys
import threading
from typing import Any

_SCHEMAS = {
    "nms": "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}

_libraries: list[Any] = []  # torch drops a schema when its Library object is collected

_lock = threading.Lock()


def ensure_torchvision() -> None:
    """Import torchvision, defining the missing operator schemas first where that is needed.

    Threads wait for each other: half of a torchvision is worse than none.
    """
    with _lock:
        if "torchvision" not in sys.modules:
            _import_torchvision()


def _import_torchvision() -> None:
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
    else:
        return
    import torch

    for name in [n for n in sys.modules if n.split(".")[0] == "torchvision"]:
        del sys.modules[name]
    for name, schema in _SCHEMAS.items():
        if not hasattr(torch.ops.torchvision, name):
            library = torch.library.Library("torchvision", "FRAGMENT")
            library.define(schema)
            _libraries.append(library)
    importlib.import_module("torchvision")
