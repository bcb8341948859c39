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

import functools
import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_SCHEMAS = {
    "nms": "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}

_libraries: list[Any] = []  # torch drops a schema when its Library object is collected

_loading = threading.RLock()


def one_at_a_time(load: Callable[P, T]) -> Callable[P, T]:
    """For whatever imports torchvision or transformers to load a model: threads wait in turn.

    Both import their parts lazily and break when two threads begin at once, as the first turns of
    two conversations do.
    """

    @functools.wraps(load)
    def waiting(*arguments: P.args, **options: P.kwargs) -> T:
        with _loading:
            return load(*arguments, **options)

    return waiting


@one_at_a_time
def ensure_torchvision() -> None:
    """Import torchvision, defining the missing operator schemas first where that is needed."""
    if "torchvision" in sys.modules:
        return
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
