"""How a page of Gradio's parts learns where it is asked to go."""

from __future__ import annotations

import gradio as gr


def visit_listener(page: str) -> gr.HTML:
    """An unseen part whose `select` brings the address whenever the visitor comes to a page.

    ::

        self.route = visit_listener("lab")
        self.route.select(self.open, [...], [...])  # open(event): address_of(event).get("run", "")
    """
    return gr.HTML(
        js_on_load=f"mmrag.register('{page}', (address) => trigger('select', {{ address }}), true)",
        elem_id=f"mm-route-{page}", elem_classes="mm-hidden", apply_default_css=False,
    )  # fmt: skip


def address_of(event: gr.EventData) -> dict[str, str]:
    """What the address asks for: `run`, `session`, `condition`, `turn`, ... as far as given."""
    found = getattr(event, "address", None)
    if not isinstance(found, dict):
        return {}
    return {str(key)[:50]: str(value)[:500] for key, value in found.items()}
