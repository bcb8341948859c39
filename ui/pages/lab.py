"""Lab: any picture under any degradations, live, about a thing that is pointed at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from mmrag.errors import MmragError
from simulator.optics.calibrate import LADDER
from ui.offered_pictures import OfferedPicture, OfferedPictures
from ui.pages.page_visits import address_of, visit_listener
from ui.render import render
from ui.views.lab_view import DownloadCache, degrade_picture, find_thing, kinds

PICK_JS = """
element.addEventListener('click', (event) => {
  const sample = event.target.closest('[data-sample]')?.dataset;
  if (sample) trigger('select', { sample: sample.sample });
});
"""


def picture_upload(elem_id: str) -> gr.Image:
    """A picture as it was uploaded: decoding, with its limits and its words, is ours. Not a
    subclass: Gradio writes a stub file beside the module of every subclass of its parts."""
    made = gr.Image(
        type="filepath", sources=["upload", "webcam", "clipboard"], label="Your picture",
        show_label=False, height=210, elem_id=elem_id,
    )  # fmt: skip
    made.preprocess = _path_unopened
    return made


def _path_unopened(payload: Any) -> str | None:
    return payload.path if payload else None


class Lab:
    """The page with its event handlers."""

    def __init__(self, samples: OfferedPictures) -> None:
        self.samples = samples
        self.packages = DownloadCache()

    def build(self) -> None:
        """Lay the page out inside the surrounding Blocks."""
        self.route = visit_listener("lab")
        with gr.Row(elem_classes="mm-columns", elem_id="mm-lab-columns"):
            with gr.Column(scale=3, min_width=280):
                self.knobs = gr.HTML(
                    render("knobs.html.j2", kinds=kinds()),
                    js_on_load="mmrag.lab(element, trigger)",
                    elem_id="mm-knobs", elem_classes="mm-root", apply_default_css=False,
                )  # fmt: skip
                self.shelf = gr.HTML(
                    js_on_load=PICK_JS, elem_id="mm-shelf",
                    elem_classes="mm-root", apply_default_css=False,
                )  # fmt: skip
                self.upload = picture_upload("mm-upload")
            with gr.Column(scale=9, min_width=300):
                self.view = gr.HTML(
                    self._empty(), elem_id="mm-lab", elem_classes="mm-root",
                    apply_default_css=False,
                )  # fmt: skip
                self.download = gr.DownloadButton(
                    "Download with its record", interactive=False, elem_id="mm-download", size="sm"
                )
        self.sample = gr.State("")
        self.asked = gr.State({"spec": "low-light@3", "seed": "0", "focus": "", "number": ""})
        self._wire()

    def _wire(self) -> None:
        source, shown = [self.upload, self.sample, self.asked], [self.view, self.download]
        # one after the other, in the order in which they were asked for, and none is dropped
        in_order: Any = {
            "show_progress": "hidden", "trigger_mode": "multiple", "concurrency_id": "lab",
        }  # fmt: skip
        self.route.select(
            self.arrive, source, [*shown, self.shelf, self.sample, self.asked], **in_order
        )
        self.knobs.select(self.turn_knob, source, [*shown, self.asked], **in_order)
        # another picture: the old one's box says nothing about it
        self.shelf.select(
            self._pick, [self.asked], [*shown, self.sample, self.upload, self.asked], **in_order
        )
        self.upload.input(self._uploaded, source, [*shown, self.asked], **in_order)

    def arrive(
        self, event: gr.EventData, path: str | None, sample: str, asked: dict[str, str]
    ) -> list[Any]:
        """What was looked at before, else the first picture of the run that is chosen."""
        offered = self.samples.of(address_of(event).get("run", ""))
        if offered and sample not in [one.id for one in offered]:
            sample, asked = offered[0].id, self._unboxed(asked)
        shelf = render("shelf.html.j2", samples=offered)
        return [*self.show(path, sample, asked), shelf, sample, asked]

    def _pick(self, event: gr.EventData, asked: dict[str, str]) -> list[Any]:
        sample, asked = str(event.sample)[:200], self._unboxed(asked)
        return [*self.show(None, sample, asked), sample, None, asked]

    def _uploaded(self, path: str | None, sample: str, asked: dict[str, str]) -> list[Any]:
        asked = self._unboxed(asked)
        return [*self.show(path, sample, asked), asked]

    def _unboxed(self, asked: dict[str, str]) -> dict[str, str]:
        return {**asked, "focus": ""}

    def turn_knob(
        self, event: gr.EventData, path: str | None, sample: str, asked: dict[str, str]
    ) -> list[Any]:
        """Other settings, a box that was drawn, or a thing that was tapped on."""
        given = {
            name: str(getattr(event, name, asked[name]))[:300]
            for name in ("spec", "seed", "focus", "number")
        }
        point = str(getattr(event, "point", ""))[:60]
        problem = ""
        source = self._source(path, sample)
        if point and source is not None:
            try:
                x, y = (float(part) for part in point.split(","))
                box = find_thing(source, x, y)
            except (MmragError, ValueError) as error:
                box, problem = None, str(error)
            if box:
                given["focus"] = ", ".join(map(str, box))
            else:
                problem = problem or "Nothing stands out there. Draw a box around it instead."
        return [*self.show(path, sample, given, problem), given]

    def show(
        self, path: str | None, sample: str, asked: dict[str, str], problem: str = ""
    ) -> list[Any]:
        """The picture under these settings, or why there is none; and whose answer that is."""
        view, download = self._shown(path, sample, asked, problem)
        number = asked["number"] if asked["number"].isdecimal() else ""
        return [f'<i data-asked="{number}" hidden></i>{view}', download]

    def _shown(
        self, path: str | None, sample: str, asked: dict[str, str], problem: str
    ) -> tuple[str, Any]:
        source = self._source(path, sample)
        if source is None:
            return self._empty(), gr.update(interactive=False, value=None)
        seed = asked["seed"] if asked["seed"].isdecimal() and len(asked["seed"]) < 10 else "0"
        try:
            done = degrade_picture(source, asked["spec"], int(seed), asked["focus"])
        except MmragError as error:
            message = render("message.html.j2", title="That cannot be done", words=error)
            return message, gr.update(interactive=False, value=None)
        return (
            render("lab.html.j2", lab=done, ladder=LADDER, problem=problem, focus=asked["focus"]),
            gr.update(interactive=True, value=str(self.packages.put(done))),
        )

    def _source(self, path: str | None, sample: str) -> Path | OfferedPicture | None:
        return Path(path) if path else self.samples.get(sample)

    def _empty(self) -> str:
        words = "Upload a picture or choose a sample; it is degraded as you move the controls."
        return render("message.html.j2", title="The lab", words=words)
