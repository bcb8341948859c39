"""Robustness: curves and slices of a run, down to the conversations behind a point."""

from __future__ import annotations

from typing import Any

import gradio as gr

from mmrag.errors import MmragError
from ui.analysis import Analysis
from ui.pages.route import address_of, route
from ui.render import render

SHOWN = 60
"""Conversations behind a point that are listed; all are counted."""

_CLICK_JS = """
element.addEventListener('click', (event) => {
  const mark = event.target.closest('[data-condition]')?.dataset;
  if (mark) trigger('select', {
    condition: mark.condition, dimension: mark.dimension || '', slice: mark.slice || '' });
});
element.addEventListener('keydown', (event) => {
  const point = event.target.closest('.mm-point');
  if (event.key === 'Enter' && point)
    point.dispatchEvent(new MouseEvent('click', { bubbles: true }));
});
"""

_SCROLL_JS = "() => document.querySelector('#mm-behind')?.scrollIntoView({block: 'nearest'})"


class Robustness:
    """The page with its event handlers."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def build(self) -> None:
        """Lay the page out inside the surrounding Blocks."""
        names = list(self.analysis.runs)
        self.route = route("robustness")
        with gr.Row():
            self.run = gr.Dropdown(
                names, value=names[0] if names else None, label="Run", elem_id="mm-robust-run"
            )
            self.condition = gr.Dropdown(
                ["clean"], value="clean", label="Slices under", elem_id="mm-robust-condition"
            )
        self.view = gr.HTML(
            js_on_load=_CLICK_JS, elem_id="mm-robustness", elem_classes="mm-root",
            apply_default_css=False,
        )  # fmt: skip
        self.behind = gr.HTML(elem_id="mm-behind", elem_classes="mm-root", apply_default_css=False)
        shown = [self.condition, self.view, self.behind]
        self.route.select(self.open, [self.run], [self.run, *shown], show_progress="hidden")
        self.run.input(self._switch, [self.run], shown, show_progress="hidden")
        self.condition.input(
            self.show, [self.run, self.condition], [self.view, self.behind], show_progress="hidden"
        )
        opened = self.view.select(
            self.open_point, [self.run], [self.behind], show_progress="hidden"
        )
        opened.then(None, js=_SCROLL_JS)

    def open(self, event: gr.EventData, name: str | None) -> list[Any]:
        """The run that the address names, else the one chosen before."""
        wanted = address_of(event).get("run", "")
        name = wanted if wanted in self.analysis.runs else name
        return [name, *self._switch(name)]

    def _switch(self, name: str | None) -> list[Any]:
        if not name:
            words = "Open a run first: mmrag ui runs/NAME"
            return [gr.skip(), render("message.html.j2", title="No run is open", words=words), ""]
        conditions = self.analysis.conditions(name) or ["clean"]
        return [
            gr.update(choices=conditions, value=conditions[0]),
            *self.show(name, conditions[0]),
        ]

    def show(self, name: str, condition: str) -> list[str]:
        """The page of a run under one condition, or why there is none."""
        try:
            page = render(
                "robustness.html.j2",
                broken=self.analysis.broken(name),
                slices=self.analysis.slices(name, condition),
                condition=condition,
            )
        except MmragError as error:
            page = render("message.html.j2", title="Nothing to compute yet", words=error)
        return [page, ""]

    def open_point(self, event: gr.EventData, name: str) -> str:
        """The conversations behind a point of a curve that was clicked."""
        condition, dimension, wanted = (
            str(event.condition), str(event.dimension), str(event.slice)
        )  # fmt: skip
        try:
            behind = self.analysis.behind(name, condition, dimension, wanted)
        except (MmragError, KeyError, ValueError) as error:
            return render("message.html.j2", title="That cannot be shown", words=error)
        title = condition + (f", {wanted}" if wanted else "")
        return render(
            "behind.html.j2", run=name, title=title, behind=behind[:SHOWN], total=len(behind)
        )
