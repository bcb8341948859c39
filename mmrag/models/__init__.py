"""Models: language and vision-language. `models.create("scripted:text=hello")` makes one."""

from __future__ import annotations

from mmrag.protocols import Model
from mmrag.registry import Registry

models: Registry[Model] = Registry(
    "model",
    group="mmrag.models",
    builtin={
        "local": "mmrag.models.local:LocalModel",
        "openai": "mmrag.models.openai:OpenAIModel",
        "scripted": "mmrag.models.scripted:ScriptedModel",
        "smollm2": "mmrag.models.smollm2:SmolLM2",
    },
    unknown=lambda name: (
        f" A model behind an endpoint is written (openai:name={name}), one in a "
        f"folder or on a hub (local:name={name})."
    ),
)
"""Every model by name. Other packages add theirs by the entry-point group `mmrag.models`."""
