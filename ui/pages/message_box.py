"""The line in which a person types what to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

_TAKE_JS = "(typed, number) => ['', typed, number + 1]"
_GIVE_BACK_JS = "(typed, back) => [typed || back, '']"


def when_sent(
    box: gr.Textbox,
    button: gr.Button,
    say: Callable[..., Any],
    given: Callable[[gr.Textbox, gr.Number], list[Any]],
    shown: Callable[[gr.Textbox], list[Any]],
) -> None:
    """Hand what is typed to `say`.

    The box is empty before the server has heard of it, so that what is typed from then on is the
    next thing to say. `say` is `given` the words in a box of their own and may be given their
    number, as two sent within a second may arrive in another order; what it puts into the other
    box, among what is `shown`, comes back to be typed anew, unless something has been by then.
    """
    sent, back = (gr.Textbox(visible=False, label=label) for label in ("sent", "back"))
    number = gr.Number(0, visible=False, label="number")
    at_once: Any = {"trigger_mode": "multiple", "show_progress": "hidden"}
    taken = gr.on(
        [box.submit, button.click], None, [box, number], [box, sent, number], js=_TAKE_JS, **at_once
    )
    said = taken.then(say, given(sent, number), shown(back), concurrency_limit=None, **at_once)
    said.then(None, [box, back], [box, back], js=_GIVE_BACK_JS, **at_once)
