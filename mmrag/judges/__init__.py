"""Judges: who decides whether a reply is right. `make_judge("builtin")` makes one."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from mmrag.protocols import Judge, Model
from mmrag.registry import Registry, Spec

judges: Registry[Judge] = Registry(
    "judge",
    group="mmrag.judges",
    builtin={
        "builtin": "mmrag.judges.builtin:builtin_judge",
        "boxes": "mmrag.judges.location_judges:BoxJudge",
        "exact": "mmrag.judges.simple:ExactJudge",
        "fixed": "mmrag.judges.simple:FixedJudge",
        "model": "mmrag.judges.model_judge:ModelJudge",
        "names": "mmrag.judges.location_judges:make_name_judge",
        "panel": "mmrag.judges.panel:Panel",
    },
)
"""Every judge by name. Other packages add theirs by the entry-point group `mmrag.judges`."""


def make_judge(
    spec: str | Spec,
    *,
    models: Callable[[str], Model] | None = None,
    agent_model: str | None = None,
) -> Judge:
    """Make the judge that a spec names: `builtin`, `model:model=SPEC`, `panel:judges=A+B`.

    `models` turns a model spec into a client, as the registry does if it is left out; `agent_model`
    names the model under test, so that a model judge can warn about its own family. Judges that
    need neither are not given them.
    """
    from mmrag.models import models as known

    parsed = Spec.parse(spec) if isinstance(spec, str) else spec
    accepted = inspect.signature(judges.factory(parsed.name)).parameters
    context = {"models": models or known.create, "agent_model": agent_model}
    return judges.create(parsed, **{k: v for k, v in context.items() if k in accepted})
