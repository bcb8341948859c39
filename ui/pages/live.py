"""Live: talk to an agent about a picture and see what it does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, MutableMapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import gradio as gr

from mmrag.agents.external.reply_checks import says_nothing
from mmrag.errors import MmragError, UsageError
from mmrag.files.images import LazyImage
from mmrag.records import Query
from simulator.application.own_photo_notice import own_photo_notice
from ui.offered_pictures import OfferedPictures
from ui.opened_runs import open_runs
from ui.pages.lab import PICK_JS, picture_upload
from ui.pages.message_box import when_sent
from ui.pages.page_visits import address_of, visit_listener
from ui.pages.play_wearer import PlayPage
from ui.render import render
from ui.replay.conversation_list import ConversationList
from ui.replay.conversation_view import live_turns
from ui.replay.kg_thumbnails import LIVE
from ui.views.lab_view import data_url
from ui.views.live_view import AgentCache, LiveTalk, VisitorSession, ask, next_query, save

ARRIVING = 10.0
"""Seconds that a question typed at once waits for the first picture to arrive."""

OUT_OF_ORDER_WAIT = 5.0
"""Seconds that a question waits for one that was sent before it and has not arrived."""


class Live:
    """The page with its event handlers."""

    def __init__(
        self,
        runs: MutableMapping[str, ConversationList],
        shelf: AgentCache,
        agents: list[str],
        folder: Path,
        data: str = "",
        samples: OfferedPictures | None = None,
        play: PlayPage | None = None,
    ) -> None:
        self.runs = runs
        self.shelf = shelf
        self.agents = agents
        self.folder = folder
        self.data = data
        self.samples = samples or OfferedPictures(runs)
        self.play = play

    def build(self) -> None:
        """Lay the page out inside the surrounding Blocks."""
        talk = LiveTalk(self.agents[0] if self.agents else "")
        self.route = visit_listener("live")
        if self.play is not None:
            gr.HTML(
                render("live_modes.html.j2"), elem_id="mm-live-modes", elem_classes="mm-root",
                apply_default_css=False,
            )  # fmt: skip
            self.play.build(self.route)
        with gr.Row(elem_classes="mm-columns", elem_id="mm-live"):
            with gr.Column(scale=4, min_width=260, elem_id="mm-live-left"):
                # apart, because the talk is sent again and again while the agent works
                self.picture = gr.HTML(
                    _picture(talk), elem_id="mm-live-picture",
                    elem_classes="mm-root", apply_default_css=False,
                )  # fmt: skip
                self.again = gr.Checkbox(
                    label="Look again: another picture goes on with this conversation",
                    container=False, elem_id="mm-again",
                )  # fmt: skip
                self.pictures = gr.HTML(
                    js_on_load=PICK_JS, elem_id="mm-live-shelf", elem_classes="mm-root",
                    apply_default_css=False,
                )  # fmt: skip
                self.upload = picture_upload("mm-live-upload")
            with gr.Column(scale=6, min_width=300, elem_id="mm-live-right"):
                with gr.Row(elem_id="mm-live-head"):
                    self.agent = gr.Dropdown(
                        self.agents,
                        value=self.agents[0] if self.agents else None,
                        label="Agent",
                        elem_id="mm-agent",
                    )
                    self.fresh = gr.Button("New conversation", size="sm", elem_id="mm-fresh")
                    self.keep = gr.Button("Save as a run", size="sm", elem_id="mm-save")
                self.saved = gr.HTML(
                    elem_id="mm-saved", elem_classes="mm-root", apply_default_css=False
                )
                self.view = gr.HTML(
                    self.page(talk), js_on_load="mmrag.live(element)", elem_id="mm-talk",
                    elem_classes="mm-root", apply_default_css=False,
                )  # fmt: skip
                with gr.Row(equal_height=True, elem_id="mm-askrow"):
                    self.text = gr.Textbox(
                        label="Your question", placeholder="What is this? Enter sends it",
                        show_label=False, scale=8, elem_id="mm-question",
                    )  # fmt: skip
                    self.send = gr.Button(
                        "Ask", variant="primary", scale=1, min_width=90, elem_id="mm-ask"
                    )
        self.seat = gr.State(VisitorSession(talk))
        self._wire()

    def _wire(self) -> None:
        shown = [self.picture, self.view, self.saved]
        seat = self.seat
        self.route.select(
            self.arrive, [seat, self.agent], [*shown, self.pictures],
            trigger_mode="multiple", show_progress="hidden",
        )  # fmt: skip
        self.upload.input(
            self._uploaded, [seat, self.agent, self.again, self.upload], shown,
            show_progress="hidden",
        )  # fmt: skip
        self.pictures.select(
            self._picked, [seat, self.agent, self.again], shown,
            trigger_mode="multiple", show_progress="hidden",
        )  # fmt: skip
        self.agent.input(self.switch_agent, [seat, self.agent], shown, show_progress="hidden")
        when_sent(
            self.text, self.send, self.ask,
            lambda sent, number: [seat, sent, number], lambda back: [self.view, back, self.saved],
        )  # fmt: skip
        self.fresh.click(self.begin_anew, [seat], shown, show_progress="hidden")
        self.keep.click(self._save, [seat], [self.saved], show_progress="hidden")

    def arrive(self, event: gr.EventData, seat: VisitorSession, agent: str) -> list[Any]:
        """Who has no picture yet begins with the first one of the run that is chosen."""
        if address_of(event).get("play"):
            return [gr.skip()] * 4
        try:
            offered = self.samples.of(address_of(event).get("run", ""))
            shelf = render("shelf.html.j2", samples=offered)
            if seat.talk.image is None and offered:
                picture, page, _ = self.begin(seat, agent, LazyImage.from_path(offered[0].path))
                return [picture, page, gr.skip(), shelf]
            return [gr.skip(), gr.skip(), gr.skip(), shelf]
        finally:
            seat.arrived = True

    def _uploaded(
        self, seat: VisitorSession, agent: str, again: bool, path: str | None
    ) -> list[Any]:
        if not path:
            return [gr.skip()] * 3 if again else self._anew(seat, LiveTalk(agent))
        data = Path(path).read_bytes()  # kept in memory: Gradio clears its folder when it likes
        image = LazyImage.from_bytes(data, name="your picture")
        return (self.look_again if again else self.begin)(seat, agent, image, own=True)

    def _picked(
        self, event: gr.EventData, seat: VisitorSession, agent: str, again: bool
    ) -> list[Any]:
        sample = self.samples.get(str(event.sample)[:200])
        if sample is None:
            return [gr.skip()] * 3
        image = LazyImage.from_path(sample.path)
        return (self.look_again if again else self.begin)(seat, agent, image)

    def look_again(
        self, seat: VisitorSession, agent: str, image: LazyImage, *, own: bool = False
    ) -> list[Any]:
        """Go on about another picture; what cannot be used leaves the talk as it was."""
        if seat.lock.locked():
            words = "The assistant is at work on your question. Look again when it has answered."
            return [gr.skip(), gr.skip(), _message("", words)]
        if not seat.talk.exchanges:
            return self.begin(seat, agent, image, own=own)
        try:
            talk = seat.talk.look_again(image, own=own)
            _ = talk.size
        except MmragError as error:
            return [gr.skip(), gr.skip(), _message("That cannot be used", error)]
        return self._anew(seat, talk)

    def begin(
        self, seat: VisitorSession, agent: str, image: LazyImage, *, own: bool = False
    ) -> list[Any]:
        """Begin a conversation about a picture, or say why it cannot be opened."""
        talk = LiveTalk(agent, image=image, own=own)
        try:
            _ = talk.size
        except MmragError as error:
            seat.begin(LiveTalk(agent))
            return ["", _message("That cannot be used", error), ""]
        return self._anew(seat, talk)

    def switch_agent(self, seat: VisitorSession, agent: str) -> list[Any]:
        """Another agent begins anew: a history belongs to the agent that made it."""
        if agent == seat.talk.agent_spec:  # leaving the field says the choice once more
            return [gr.skip()] * 3
        return self._anew(seat, seat.talk.anew(agent))

    def begin_anew(self, seat: VisitorSession) -> list[Any]:
        """Begin again, with the same picture and agent."""
        return self._anew(seat, seat.talk.anew(seat.talk.agent_spec))

    def _anew(self, seat: VisitorSession, talk: LiveTalk) -> list[Any]:
        seat.begin(talk)
        return [_picture(talk), self.page(talk), ""]

    async def ask(
        self, seat: VisitorSession, text: str, number: float = 0
    ) -> AsyncIterator[list[Any]]:
        """Shows the work on one turn, for as long as the visitor stays with this talk.

        Questions are asked in the order of their `number`s, counted from one where the page counts.

        What is asked meanwhile is asked after it, unless it is the same or nothing, or another
        conversation has begun by then. What cannot be asked is given back.
        """
        begun = seat.begun
        heard, began = seat.heard, time.perf_counter()
        while seat.heard < number - 1 and time.perf_counter() - began < OUT_OF_ORDER_WAIT:
            yield [self.page(seat.talk, asking=text), gr.skip(), ""]
            await asyncio.sleep(0.05)
            if seat.heard > heard:  # another one arrived: the next may be as late as it was
                heard, began = seat.heard, time.perf_counter()
        seat.heard = max(seat.heard, number)
        if seat.lock.locked() and (says_nothing(text) or text == seat.asking):
            yield [gr.skip()] * 3
            return
        async with seat.lock:
            if seat.begun != begun:
                words = f"Not asked, as another conversation has begun: {text}"
                yield [gr.skip(), gr.skip(), _message("", words)]
                return
            seat.asking = text
            async with aclosing(self._asked(seat, text)) as work:
                async for shown in work:
                    yield shown

    async def _asked(self, seat: VisitorSession, text: str) -> AsyncGenerator[list[Any], None]:
        began = time.perf_counter()
        while not (seat.arrived or seat.talk.image) and time.perf_counter() - began < ARRIVING:
            await asyncio.sleep(0.05)
        talk = seat.talk
        try:
            query = next_query(talk, text)
        except UsageError as error:
            yield [self.page(talk), text, _message("", error)]
            return
        began = time.perf_counter()
        steps: list[str] = []
        work = asyncio.create_task(self._answer(talk, query, steps))
        try:
            while not work.done():
                waited = time.perf_counter() - began
                yield [self.page(talk, asking=text, waited=waited, steps=steps), gr.skip(), ""]
                await asyncio.wait([work], timeout=0.4)
                if (
                    seat.talk is not talk
                ):  # Gradio shows what came last once more: what is there now
                    yield [self.page(seat.talk), gr.skip(), gr.skip()]
                    return
            seat.talk = work.result()
        except MmragError as error:
            yield [self.page(talk), text, _message("The agent cannot be made", error)]
            return
        except Exception as problem:  # any agent may be tried here
            words = f"{type(problem).__name__}: {problem}"
            yield [self.page(talk), text, _message("The agent cannot be made", words)]
            return
        finally:
            work.cancel()  # the visitor may have left while it worked
        yield [self.page(seat.talk), gr.skip(), ""]

    async def _answer(self, talk: LiveTalk, query: Query, steps: list[str]) -> LiveTalk:
        agent = await asyncio.to_thread(self.shelf.get, talk.agent_spec)
        from mmrag.agents.trace import watch_steps

        with watch_steps(lambda step: steps.append(step.name)):
            async with self.shelf.place(talk.agent_spec):
                return await ask(talk, agent, query)

    def _save(self, seat: VisitorSession) -> str:
        talk = seat.talk
        try:
            place = save(talk, self.folder)
            opened = open_runs([place])
        except MmragError as error:
            return _message("Not saved", error)
        self.runs.update(opened)
        name = next(iter(opened))
        return render("saved.html.j2", run=name, session=talk.exchanges[0].session_id)

    def page(
        self, talk: LiveTalk, *, asking: str = "", waited: float = 0.0, steps: Sequence[str] = ()
    ) -> str:
        """The conversation so far, and the work on the turn being asked."""
        return render(
            "live.html.j2",
            turns=live_turns(talk.exchanges, talk.size if talk.image else (0, 0)),
            asking=asking,
            waited=waited,
            steps=list(steps),
            agent=talk.agent_spec,
            looked={turn for _, turn in talk.before},
            knows=own_photo_notice(talk.agent_spec, self.data) if talk.own and self.data else "",
            run=LIVE if self.data else "",
        )


def _picture(talk: LiveTalk) -> str:
    there = talk.image is not None
    return render(
        "live_picture.html.j2",
        picture=data_url(talk.fresh().pil()) if there else "",
        size=talk.size if there else (3, 4),
    )


def _message(title: str, words: object) -> str:
    return render("message.html.j2", title=title, words=words)
