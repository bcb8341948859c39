"""Lab: any picture under any degradation, live, with its record."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

import gradio as gr

from mmrag.errors import MmragError
from ui.catalogue import Catalogue
from ui.labwork import Packages, Sample, degrade_picture, kinds, samples
from ui.pages.route import route
from ui.render import render

PICK_JS = """
element.addEventListener('click', (event) => {
  const sample = event.target.closest('[data-sample]')?.dataset;
  if (sample) trigger('select', { sample: sample.sample });
});
"""


def upload(**settings: Any) -> gr.Image:
    """A picture as it was uploaded: decoding, with its limits and its words, is ours.

    Not a subclass: Gradio writes a stub file beside the module of every subclass of its parts.
    """
    made = gr.Image(type="filepath", sources=["upload", "webcam", "clipboard"], **settings)
    made.preprocess = _path_unopened
    return made


def _path_unopened(payload: Any) -> str | None:
    return payload.path if payload else None


class Lab:
    """The page with its event handlers."""

    def __init__(self, runs: MutableMapping[str, Catalogue]) -> None:
        self.samples: dict[str, Sample] = samples(runs)
        self.packages = Packages()

    def build(self) -> None:
        """Lay the page out inside the surrounding Blocks."""
        self.route = route("lab")
        with gr.Row(elem_classes="mm-columns"):
            with gr.Column(scale=3, min_width=280):
                self.upload = upload(
                    label="Your picture: upload, camera or clipboard",
                    height=220,
                    elem_id="mm-upload",
                )
                self.shelf = gr.HTML(
                    self._shelf(), js_on_load=PICK_JS, elem_id="mm-shelf",
                    elem_classes="mm-root", apply_default_css=False,
                )  # fmt: skip
                self.kind = gr.Dropdown(
                    kinds(), value="low-light", label="Degradation", elem_id="mm-kind"
                )
                self.severity = gr.Slider(
                    0, 5, value=3, step=1, label="Severity (0 leaves every byte as it is)",
                    elem_id="mm-severity",
                )  # fmt: skip
                self.seed = gr.Number(value=0, precision=0, label="Seed", minimum=0)
                self.focus = gr.Textbox(
                    label="Focus box", placeholder="left, top, right, bottom in pixels",
                    info="The thing that is asked about. Left empty: a sample's own box, "
                    "of your own picture all of it.",
                    elem_id="mm-focus",
                )  # fmt: skip
            with gr.Column(scale=9, min_width=300):
                self.view = gr.HTML(
                    self._empty(), elem_id="mm-lab", elem_classes="mm-root",
                    apply_default_css=False,
                )  # fmt: skip
                self.download = gr.DownloadButton(
                    "Download with its record", interactive=False, elem_id="mm-download"
                )
        self.sample = gr.State(next(iter(self.samples), ""))
        self._wire()

    def _wire(self) -> None:
        knobs = [self.upload, self.sample, self.kind, self.severity, self.seed, self.focus]
        shown = [self.view, self.download]
        self.route.select(self._degrade, knobs, shown, show_progress="hidden")
        self.shelf.select(self._pick, None, [self.sample, self.upload]).then(
            self._degrade, knobs, shown, show_progress="hidden"
        )
        for change in self._changes():
            change(self._degrade, knobs, shown, show_progress="hidden", trigger_mode="always_last")

    def _changes(self) -> list[Callable[..., Any]]:
        return [
            self.upload.input, self.kind.input, self.severity.input, self.seed.input,
            self.focus.submit, self.focus.blur,
        ]  # fmt: skip

    def _pick(self, event: gr.EventData) -> list[Any]:
        name = str(event.sample)
        return [name if name in self.samples else "", None]

    def _degrade(
        self, path: str | None, sample: str, kind: str, severity: float, seed: float, focus: str
    ) -> list[Any]:
        source = Path(path) if path else self.samples.get(sample)
        if source is None:
            return [self._empty(), gr.update(interactive=False, value=None)]
        try:
            done = degrade_picture(source, kind, int(severity), int(seed or 0), focus)
        except MmragError as error:
            message = render("message.html.j2", title="That cannot be done", words=error)
            return [message, gr.update(interactive=False, value=None)]
        return [
            render("lab.html.j2", lab=done),
            gr.update(interactive=True, value=str(self.packages.put(done))),
        ]

    def _shelf(self) -> str:
        return render("shelf.html.j2", samples=list(self.samples.values())[:8])

    def _empty(self) -> str:
        words = "Upload a picture or choose a sample; it is degraded as you move the controls."
        return render("message.html.j2", title="The lab", words=words)
