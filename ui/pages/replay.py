"""Replay: choose a run, narrow it down, and watch a conversation happen."""

from __future__ import annotations

from typing import Any

import gradio as gr

from mmrag.errors import MmragError
from ui.catalogue import Catalogue, Filter, Row
from ui.render import render
from ui.viewmodel import conversation

PAGE = 30
ANY = "any"

# A click on a row hands its key over and lets the server answer with that conversation.
_LIST_JS = """
element.addEventListener('click', (event) => {
  const row = event.target.closest('[data-session]')?.dataset;
  if (row) trigger('select', { session: row.session, degradation: row.degradation });
});
"""


class Replay:
    """The page with its event handlers."""

    def __init__(self, runs: dict[str, Catalogue]) -> None:
        self.runs = runs

    def build(self) -> None:
        """Lay the page out inside the surrounding Blocks."""
        first = next(iter(self.runs), None)
        with gr.Row(elem_classes="mm-columns"):
            with gr.Column(scale=3, min_width=280, elem_id="mm-browse"):
                with gr.Column(elem_id="mm-choose"):
                    self.run = gr.Dropdown(
                        list(self.runs), value=first, label="Run", elem_id="mm-run",
                        interactive=True,
                    )  # fmt: skip
                    self.text = gr.Textbox(
                        label="Search in queries", placeholder="words or a session id",
                        elem_id="mm-text",
                    )  # fmt: skip
                with gr.Accordion("Filters", open=False, elem_id="mm-filters"):
                    self.outcome = _choice("Outcome", ["perfect", "acceptable", "missing",
                                                       "incorrect", "unscored"])  # fmt: skip
                    self.quality = _choice("Quality", [])
                    self.degradation = _choice("Degradation", [])
                    self.severity = _choice("Severity", [])
                    self.domain = _choice("Domain", [])
                    self.kind = _choice("Question type", [])
                    self.meta = _choice("Dimension of the data", [])
                    self.stopped = gr.Checkbox(label="Stopped early", value=False)
                    self.flipped = gr.Checkbox(
                        label="Flipped by a degradation", value=False,
                        info="right on the clean picture and wrong on another, or the reverse",
                    )  # fmt: skip
                self.list = gr.HTML(
                    js_on_load=_LIST_JS,
                    elem_id="mm-sessions",
                    elem_classes="mm-root",
                    apply_default_css=False,
                )
                with gr.Row():
                    self.newer = gr.Button(
                        f"← previous {PAGE}", size="sm", elem_id="mm-earlier", min_width=80,
                        interactive=False,
                    )  # fmt: skip
                    self.older = gr.Button(
                        f"next {PAGE} →", size="sm", elem_id="mm-later", min_width=80,
                        interactive=False,
                    )  # fmt: skip
            with gr.Column(scale=9, min_width=300):
                with gr.Row(elem_id="mm-steps"):
                    self.previous = gr.Button(
                        "previous conversation",
                        size="sm",
                        elem_id="mm-previous-session",
                        min_width=80,
                    )
                    self.next = gr.Button(
                        "next conversation", size="sm", elem_id="mm-next-session", min_width=80
                    )
                self.view = gr.HTML(
                    elem_id="mm-view", elem_classes="mm-root", apply_default_css=False
                )
        self.offset = gr.State(0)
        self.here = gr.State(None)  # the row that is shown, as it was then
        self.seen = gr.State(0)  # the catalogue's version that the list shows
        self.tick = gr.Timer(3.0, active=False)
        self._wire()

    def load(self, request: gr.Request) -> list[Any]:
        """The first look: what the address asks for, else the first conversation."""
        asked = dict(request.query_params)
        wanted = asked.get("run", "")
        name = wanted if wanted in self.runs else next(iter(self.runs), "")
        if not name:
            return self._nothing()
        catalogue = self.runs[name]
        catalogue.reread()
        key = (asked.get("session", ""), asked.get("degradation", "clean"))
        row = catalogue.get(*key) if wanted in ("", name) else None
        turn = _number(asked.get("turn")) - 1 if row else 0
        rows = catalogue.find(Filter())
        problem = ""
        if wanted not in ("", name):
            problem = (
                f"No opened run is called {wanted[:80]!r}; this is {name!r}. "
                "Name its folder when you start mmrag ui to have it here."
            )
        elif key[0] and row is None:
            under = "" if key[1] == "clean" else f" under {key[1][:80]!r}"
            problem = f"This run has no session {key[0][:80]!r}{under}; here is its first one."
        row = row or (rows[0] if rows else None)
        offset = _page_of(rows, row)
        return [
            gr.update(choices=list(self.runs), value=name),
            *self._choices(catalogue),
            self._list(catalogue, rows, offset, row, filtered=False),
            offset,
            row,
            catalogue.version,
            self._show(name, row, turn, problem),
            gr.update(active=not catalogue.finished),
        ]

    @property
    def loaded(self) -> list[Any]:
        """The components that `load` fills, in its order."""
        return [
            self.run, self.quality, self.degradation, self.severity, self.domain, self.kind,
            self.meta, self.list, self.offset, self.here, self.seen, self.view, self.tick,
        ]  # fmt: skip

    def _wire(self) -> None:
        filters = [
            self.outcome, self.quality, self.degradation, self.severity, self.domain, self.kind,
            self.meta, self.stopped, self.flipped, self.text,
        ]  # fmt: skip
        shown = [self.list, self.offset, self.here, self.view]
        self.run.input(
            self.switch,
            [self.run],
            [*filters, *shown, self.seen, self.tick],
            show_progress="hidden",
        )
        for component in filters:
            event = component.submit if component is self.text else component.input
            event(self.narrow, [self.run, self.here, *filters], shown, show_progress="hidden")
        self.text.blur(self.narrow, [self.run, self.here, *filters], shown, show_progress="hidden")
        self.list.select(
            self._choose, [self.run, self.offset, *filters], shown, show_progress="hidden"
        )
        for button, step in ((self.newer, -PAGE), (self.older, PAGE)):
            button.click(
                self.turn_page(step),
                [self.run, self.offset, self.here, *filters],
                [self.list, self.offset],
                show_progress="hidden",
            )
        self.list.change(
            self.turnable,
            [self.run, self.offset, *filters],
            [self.newer, self.older],
            show_progress="hidden",
        )
        for button, step in ((self.previous, -1), (self.next, 1)):
            button.click(
                self.step_by(step),
                [self.run, self.here, *filters],
                shown,
                show_progress="hidden",
            )
        self.tick.tick(
            self.watch,
            [self.run, self.offset, self.here, self.seen, *filters],
            [self.list, self.view, self.here, self.seen, self.tick],
            show_progress="hidden",
        )

    def switch(self, name: str) -> list[Any]:
        """Show another run, its first conversation open."""
        catalogue = self.runs[name]
        catalogue.reread()
        rows = catalogue.find(Filter())
        row = rows[0] if rows else None
        return [
            ANY, *self._choices(catalogue), False, False, "",
            self._list(catalogue, rows, 0, row, filtered=False),
            0,
            row,
            self._show(name, row),
            catalogue.version,
            gr.update(active=not catalogue.finished),
        ]  # fmt: skip

    def narrow(self, name: str | None, here: Row | None, *values: Any) -> list[Any]:
        """List what the filters leave; the conversation looked at stays if it is among them."""
        if name not in self.runs:  # nothing is open, so there is nothing to narrow down
            return [gr.skip()] * 4
        catalogue, rows, filtered = self._rows(name, values)
        row = next((row for row in rows if here and row.key == here.key), None)
        offset = _page_of(rows, row)
        if row is not None:
            listed = self._list(catalogue, rows, offset, row, filtered=filtered)
            return [listed, offset, gr.skip(), gr.skip()]
        row = rows[0] if rows else None
        listed = self._list(catalogue, rows, offset, row, filtered=filtered)
        if row is None:
            return [listed, offset, gr.skip(), gr.skip()]
        return [listed, offset, row, self._show(name, row)]

    def _choose(self, event: gr.EventData, name: str, offset: int, *values: Any) -> list[Any]:
        catalogue, rows, filtered = self._rows(name, values)
        row = catalogue.get(str(event.session), str(event.degradation))
        listed = self._list(catalogue, rows, offset, row, filtered=filtered)
        return [listed, offset, row, self._show(name, row)]

    def turn_page(self, step: int) -> Any:
        """A handler that lists the conversations so many further on."""

        def turn(name: str | None, offset: int, here: Row | None, *values: Any) -> list[Any]:
            if name not in self.runs:
                return [gr.skip()] * 2
            catalogue, rows, filtered = self._rows(name, values)
            last = max(0, (len(rows) - 1) // PAGE * PAGE)
            offset = min(max(0, offset + step), last)
            return [self._list(catalogue, rows, offset, here, filtered=filtered), offset]

        return turn

    def turnable(self, name: str | None, offset: int, *values: Any) -> list[Any]:
        """Whether there is a page before and one after the listed one."""
        rows = self._rows(name, values)[1] if name in self.runs else []
        there = (offset > 0, offset + PAGE < len(rows))
        return [gr.update(interactive=one) for one in there]

    def step_by(self, step: int) -> Any:
        """A handler that opens the conversation so many further on."""

        def go(name: str | None, here: Row | None, *values: Any) -> list[Any]:
            if name not in self.runs:
                return [gr.skip()] * 4
            catalogue, rows, filtered = self._rows(name, values)
            before, after = catalogue.neighbours(rows, here.key if here else ("", ""))
            row = (before if step < 0 else after) or here
            offset = _page_of(rows, row)
            listed = self._list(catalogue, rows, offset, row, filtered=filtered)
            return [listed, offset, row, self._show(name, row)]

        return go

    def watch(self, name: str, offset: int, here: Row | None, seen: int, *values: Any) -> list[Any]:
        """While a run is being written: what is new to this tab appears by itself."""
        catalogue = self.runs[name]
        catalogue.refresh()
        version = catalogue.version
        going_on = gr.update(active=not catalogue.finished)
        if version == seen:
            return [gr.skip(), gr.skip(), gr.skip(), gr.skip(), going_on]
        _, rows, filtered = self._rows(name, values)
        row = catalogue.get(*here.key) if here else (rows[0] if rows else None)
        listed = self._list(catalogue, rows, offset, row, filtered=filtered)
        shown = gr.skip() if row == here else self._show(name, row)
        return [listed, shown, row, version, going_on]

    def _rows(self, name: str, values: tuple[Any, ...]) -> tuple[Catalogue, list[Row], bool]:
        outcome, quality, degraded, severity, domain, kind, meta, stopped, flipped, text = values
        catalogue = self.runs[name]
        wanted = Filter(
            outcome=_set(outcome),
            quality=_set(quality),
            kind=_set(degraded),
            severity=_set(severity),
            domain=_set(domain),
            query_type=_set(kind),
            meta=_set(meta),
            stopped=bool(stopped),
            text=text or "",
            keys=catalogue.flipped() if flipped else None,
        )
        return catalogue, catalogue.find(wanted), wanted != Filter()

    def _choices(self, catalogue: Catalogue) -> list[Any]:
        found = catalogue.choices()
        return [
            gr.update(choices=[ANY, *found[name]], value=ANY)
            for name in ("quality", "kind", "severity", "domain", "query_type", "meta")
        ]

    def _list(
        self, catalogue: Catalogue, rows: list[Row], offset: int, row: Row | None, *, filtered: bool
    ) -> str:
        return render(
            "sessions.html.j2",
            rows=rows[offset : offset + PAGE],
            first=offset,
            total=len(rows),
            here=row.key if row else None,
            filtered=filtered,
            finished=catalogue.finished,
        )

    def _show(self, name: str, row: Row | None, turn: int = 0, problem: str = "") -> str:
        if row is None:
            words = "This run has no conversation so far. It appears here with its first turn."
            return render("message.html.j2", title="Nothing to show yet", words=words)
        try:
            view = conversation(self.runs[name].run, name, row.session_id, row.degradation)
        except MmragError as error:
            return render("message.html.j2", title="This conversation cannot be read", words=error)
        kinds = {box.kind for box in view.overlays}
        kinds |= {box.kind for one in view.turns for box in one.overlays}
        current = min(max(turn, 0), max(len(view.turns) - 1, 0))
        page = render(
            "conversation.html.j2",
            view=view,
            current=current,
            kinds=kinds,
            thumbnails=self.runs[name].has_thumbnails,
        )
        return render("notice.html.j2", words=problem) + page if problem else page

    def _nothing(self) -> list[Any]:
        empty = render(
            "message.html.j2",
            title="No run is open",
            words="Start one with ./scripts/demo, then open it: mmrag ui runs/NAME",
        )
        none = gr.update(choices=[ANY], value=ANY)
        quiet = gr.update(active=False)
        return [gr.skip(), none, none, none, none, none, none, "", 0, None, 0, empty, quiet]


def _choice(label: str, choices: list[str]) -> gr.Dropdown:
    return gr.Dropdown([ANY, *choices], value=ANY, label=label, interactive=True)


def _set(value: str | None) -> str:
    return "" if value in (None, ANY) else str(value)


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 6 else 1


def _page_of(rows: list[Row], row: Row | None) -> int:
    for place, found in enumerate(rows):
        if row is not None and found.key == row.key:
            return place // PAGE * PAGE
    return 0
