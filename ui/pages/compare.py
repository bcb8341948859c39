"""Compare: two runs, or two conditions of one, side by side on the same sessions."""

from __future__ import annotations

from typing import Any

import gradio as gr

from mmrag.errors import MmragError
from ui.analysis import Analysis
from ui.pages.route import route
from ui.render import render
from ui.viewmodel import conversation

_PICK_JS = """
element.addEventListener('click', (event) => {
  const row = event.target.closest('[data-pair]');
  if (!row) return;
  for (const other of element.querySelectorAll('[data-pair]')) {
    other.classList.toggle('mm-here', other === row);
    if (other === row) other.setAttribute('aria-current', 'true');
    else other.removeAttribute('aria-current');
  }
  trigger('select', { session: row.dataset.pair });
});
"""


class Compare:
    """The page with its event handlers."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def build(self) -> None:
        """Lay the page out inside the surrounding Blocks."""
        names = list(self.analysis.runs)
        first = names[0] if names else None
        second = names[1] if len(names) > 1 else first
        with gr.Row():
            self.run_a = gr.Dropdown(names, value=first, label="Run A", elem_id="mm-run-a")
            self.condition_a = gr.Dropdown(["clean"], value="clean", label="Pictures of A",
                                           elem_id="mm-condition-a")  # fmt: skip
            self.run_b = gr.Dropdown(names, value=second, label="Run B", elem_id="mm-run-b")
            self.condition_b = gr.Dropdown(["clean"], value="clean", label="Pictures of B",
                                           elem_id="mm-condition-b")  # fmt: skip
        self.figures = gr.HTML(
            elem_id="mm-differences", elem_classes="mm-root", apply_default_css=False
        )
        with gr.Row(elem_classes="mm-columns"):
            with gr.Column(scale=3, min_width=280):
                self.list = gr.HTML(
                    js_on_load=_PICK_JS, elem_id="mm-pairs", elem_classes="mm-root",
                    apply_default_css=False,
                )  # fmt: skip
            with gr.Column(scale=9, min_width=300):
                self.view = gr.HTML(
                    elem_id="mm-side-by-side", elem_classes="mm-root", apply_default_css=False
                )
        self.here = gr.State("")
        sides = [self.run_a, self.condition_a, self.run_b, self.condition_b]
        shown = [self.figures, self.list, self.view]
        for run, condition in ((self.run_a, self.condition_a), (self.run_b, self.condition_b)):
            run.input(self._conditions, [run], [condition], show_progress="hidden").then(
                self._compare, sides, shown, show_progress="hidden"
            )
            condition.input(self._compare, sides, shown, show_progress="hidden")
        self.route = route("compare")
        self.route.select(self.load, self.needs, self.loaded, show_progress="hidden")
        self.list.select(self._choose, sides, [self.view], show_progress="hidden")

    @property
    def needs(self) -> list[Any]:
        """The components that `load` takes."""
        return [self.run_a, self.run_b]

    @property
    def loaded(self) -> list[Any]:
        """The components that `load` fills."""
        return [self.condition_a, self.condition_b, self.figures, self.list, self.view]

    def load(self, run_a: str | None, run_b: str | None) -> list[Any]:
        """The first look: two runs under clean pictures, or one run clean and degraded."""
        if not run_a or not run_b:
            words = "Open two runs, or one with degraded pictures: mmrag ui runs/A runs/B"
            message = render("message.html.j2", title="Nothing to compare", words=words)
            return [gr.skip(), gr.skip(), message, "", ""]
        a, b = self.analysis.conditions(run_a), self.analysis.conditions(run_b)
        chosen_a = a[0] if a else "clean"
        chosen_b = b[-1] if run_a == run_b and b else (b[0] if b else "clean")
        return [
            gr.update(choices=a, value=chosen_a),
            gr.update(choices=b, value=chosen_b),
            *self._compare(run_a, chosen_a, run_b, chosen_b),
        ]

    def _conditions(self, name: str) -> Any:
        found = self.analysis.conditions(name) or ["clean"]
        return gr.update(choices=found, value=found[0])

    def _compare(self, run_a: str, condition_a: str, run_b: str, condition_b: str) -> list[str]:
        try:
            found = self.analysis.compare((run_a, condition_a), (run_b, condition_b))
        except MmragError as error:
            words = str(error)
            return [render("message.html.j2", title="Nothing to compare", words=words), "", ""]
        first = found.flips[0].session_id if found.flips else ""
        return [
            render("differences.html.j2", found=found),
            render("pairs.html.j2", flips=found.flips[:200], total=len(found.flips), here=first),
            self._pair(run_a, condition_a, run_b, condition_b, first),
        ]

    def _choose(
        self, event: gr.EventData, run_a: str, condition_a: str, run_b: str, condition_b: str
    ) -> str:
        return self._pair(run_a, condition_a, run_b, condition_b, str(event.session))

    def _pair(
        self, run_a: str, condition_a: str, run_b: str, condition_b: str, session: str
    ) -> str:
        runs = self.analysis.runs
        try:
            return render(
                "side_by_side.html.j2",
                a=conversation(runs[run_a].run, run_a, session, condition_a),
                b=conversation(runs[run_b].run, run_b, session, condition_b),
            )
        except MmragError as error:
            return render("message.html.j2", title="This pair cannot be shown", words=error)
