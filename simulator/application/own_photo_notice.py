"""The notice that an agent knows only an indexed world, for whoever brings another photograph."""

from __future__ import annotations

from mmrag.errors import SpecError
from mmrag.registry import Spec

_BY_INDEX = ("grounded", "task1", "task2", "task3")
"""Agents that look things up in the index; with a model of their own they may know more."""


def own_photo_notice(agent: str, data: str, search: str = "auto") -> str:
    """A sentence for whoever asks about a photograph of their own; empty where it needs none.

    >>> own_photo_notice("grounded", "mini")[:56]
    'grounded knows only the indexed world mini: of any other'
    >>> own_photo_notice("llm-only:model=(openai:name=m)", "mini")
    ''
    """
    try:
        spec = Spec.parse(agent)
    except SpecError:
        return ""
    if spec.name not in _BY_INDEX or "model" in spec.options or search == "none":
        return ""
    place = f"world {data}" if search == "auto" else f"folder {search}"
    return (
        f"{spec.name} knows only the indexed {place}: of any other photograph it is silent, or "
        "takes it for a thing of that world. For photographs of your own, take an agent with a "
        "model (task3:model=(openai:name=MODEL,base_url=URL)), or index them with --data."
    )
