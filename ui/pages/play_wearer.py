"""Play: a person in the wearer's place, against the same agenda and the same patience."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, MutableMapping
from contextlib import aclosing
from typing import Any

import gradio as gr

from mmrag.agents.external.reply_checks import says_nothing
from mmrag.errors import MmragError
from simulator.application.person_run import PICTURES, PersonRuns, PersonRunState
from ui.opened_runs import open_runs
from ui.pages.message_box import when_sent
from ui.pages.page_visits import address_of
from ui.render import render
from ui.replay.conversation_list import ConversationList
from ui.views import play_wearer_view as playwork
from ui.views.lab_view import data_url

NEW = "new"
"""In the address, of who has not begun."""

_AS_TYPED: Any = gr.skip()
"""What stands in the box stays there."""


class PlayTab:
    """What one tab shows."""

    def __init__(self) -> None:
        self.now: PersonRunState | None = None
        self.wanted = ""
        """The run that the address named last."""
        self.lock = asyncio.Lock()
        """Held while the assistant works on what was said."""
        self.saying = ""

    def come(self, now: PersonRunState) -> None:
        """Show a run; what is said in another one holds nothing up in this."""
        if self.now is None or self.now.run != now.run:
            self.lock, self.saying = asyncio.Lock(), ""
        self.now = now

    def shows(self, run: str) -> bool:
        """Whether a run is still what is shown."""
        return self.now is not None and self.now.run == run


class PlayPage:
    """The page with its event handlers; built inside Live, which has its route."""

    def __init__(
        self, runs: MutableMapping[str, ConversationList], playing: PersonRuns, agents: list[str]
    ) -> None:
        self.runs, self.playing, self.agents = runs, playing, agents

    def build(self, route: gr.HTML) -> None:
        """Lay the page out inside the surrounding tab."""
        self.seat = gr.State(PlayTab())
        with gr.Row(elem_classes="mm-columns", elem_id="mm-play"):
            with gr.Column(scale=4, min_width=260, elem_id="mm-play-left"):
                self.picture = _html(_picture(None), "mm-play-picture")
            with gr.Column(scale=6, min_width=300, elem_id="mm-play-right"):
                self.card = _html(_card(None), "mm-play-card", "mmrag.play(element)")
                with gr.Column(elem_id="mm-play-begin") as self.setup:
                    with gr.Row():
                        self.agent = gr.Dropdown(
                            self.agents, value=self.agents[0] if self.agents else None,
                            label="Assistant", elem_id="mm-play-agent",
                        )  # fmt: skip
                        self.world = gr.Dropdown(
                            self.playing.worlds, value=self.playing.worlds[0], label="World",
                            elem_id="mm-play-world",
                        )  # fmt: skip
                    with gr.Row():
                        self.pictures = gr.Dropdown(
                            [("clean" if one == "none" else one, one) for one in PICTURES],
                            value="none", label="Pictures", elem_id="mm-play-pictures",
                        )  # fmt: skip
                        self.count = gr.Number(
                            1, label="Conversations", precision=0, elem_id="mm-play-count"
                        )  # its own bounds would speak in Gradio's words
                    self.start = gr.Button("Begin", variant="primary", elem_id="mm-play-start")
                self.talk = _html("", "mm-play-talk", "mmrag.live(element)")
                self.note = _html("", "mm-play-note")
                with gr.Column(visible=False, elem_id="mm-play-say") as self.form:
                    self.look = gr.Radio(
                        playwork.look_again_choices(None),
                        value="",
                        label="Look again",
                        visible=False,
                        elem_id="mm-play-look",
                    )
                    with gr.Row(equal_height=True, elem_id="mm-play-askrow"):
                        self.text = gr.Textbox(
                            label="What you say", placeholder="Ask in your own words",
                            show_label=False, scale=8, elem_id="mm-play-text",
                        )  # fmt: skip
                        self.send = gr.Button(
                            "Say it", variant="primary", scale=1, min_width=90,
                            elem_id="mm-play-send",
                        )  # fmt: skip
                    with gr.Row(elem_id="mm-play-ends"):
                        self.let_be = gr.Button(
                            "Let it be: next goal", size="sm", elem_id="mm-play-letbe"
                        )
                        self.leave = gr.Button("Leave", size="sm", elem_id="mm-play-leave")
                self.next = gr.Button(
                    "Next conversation", variant="primary", visible=False, elem_id="mm-play-next"
                )
                self.again = gr.Button("Play again", visible=False, elem_id="mm-play-again")
        self._wire(route)

    def _wire(self, route: gr.HTML) -> None:
        seat = self.seat
        shown = [
            self.picture, self.card, self.setup, self.talk, self.note, self.form, self.look,
            self.text, self.send, self.let_be, self.next, self.again,
        ]  # fmt: skip
        begun = [seat, self.agent, self.world, self.pictures, self.count]
        quiet: Any = {"show_progress": "hidden"}
        route.select(
            self.arrive, [seat], shown, trigger_mode="multiple", concurrency_limit=None, **quiet
        )
        self.start.click(self.begin, begun, shown, **quiet)
        when_sent(
            self.text, self.send, self.say, lambda sent, _: [seat, sent, self.look],
            lambda back: [back if part is self.text else part for part in shown],
        )  # fmt: skip
        self.let_be.click(self.go_past, [seat], shown, **quiet)
        self.leave.click(self.go_away, [seat], shown, **quiet)
        self.next.click(self.go_on, [seat], shown, **quiet)
        self.again.click(self.begin_anew, [seat], shown, **quiet)

    # -- what is done

    async def arrive(self, event: gr.EventData, seat: PlayTab) -> AsyncIterator[list[Any]]:
        """Show where the run stands that the address names; what is under way is waited for."""
        name = seat.wanted = address_of(event).get("play", "")
        if not name:
            yield [gr.skip()] * 12
            return
        if name == NEW:
            seat.now = None
            yield self._page(seat)
            return
        typed: Any = _AS_TYPED if seat.now is not None and seat.now.run == name else ""
        try:
            working = self.playing.is_working(name)  # first: it may end while the run is read
            standing = await asyncio.to_thread(self.playing.standing, name)
            if seat.wanted == name and working:
                seat.come(standing)
                yield self._page(seat, asking="…", text=typed)
                typed = _AS_TYPED
                standing = await self.playing.settled(name)
            if seat.wanted != name:  # another address meanwhile
                return
            seat.come(standing)
        except MmragError as error:
            if seat.wanted != name:
                return
            seat.now = None
            yield self._page(seat, note=_message("That cannot be resumed", error))
            return
        yield self._page(seat, text=typed)

    async def begin(
        self, seat: PlayTab, agent: str, world: str, pictures: str, count: float
    ) -> list[Any]:
        """Begin a run."""
        try:
            name = await asyncio.to_thread(
                self.playing.begin, agent or "", world or "", pictures or "", int(count or 0)
            )
            seat.come(await asyncio.to_thread(self.playing.standing, name))
            self.runs.update(open_runs([seat.now.folder]))
        except MmragError as error:
            return self._page(seat, note=_message("It cannot begin", error))
        except Exception as problem:  # any agent may be made here
            words = f"{type(problem).__name__}: {problem}"
            return self._page(seat, note=_message("It cannot begin", words))
        return self._page(seat)

    def begin_anew(self, seat: PlayTab) -> list[Any]:
        """Choose what to play next."""
        seat.now = None
        return self._page(seat)

    async def say(self, seat: PlayTab, text: str, look: str) -> AsyncIterator[list[Any]]:
        """Say something, and show that the assistant works on it.

        While it works nothing else is said: the words stay in the box. What ends just now is waited
        for, unless the same is sent twice.
        """
        lock = seat.lock
        if lock.locked() and (says_nothing(text) or text == seat.saying):
            yield [gr.skip()] * 12
            return
        try:
            await asyncio.wait_for(lock.acquire(), 0.5)
        except TimeoutError:
            note = _message("", "The assistant is at work. Say it when it has answered.")
            yield [*[gr.skip()] * 4, note, *[gr.skip()] * 2, text, *[gr.skip()] * 4]
            return
        try:
            seat.saying = text
            async with aclosing(self._said(seat, text, look)) as work:
                async for shown in work:
                    yield shown
        finally:
            lock.release()

    async def _said(self, seat: PlayTab, text: str, look: str) -> AsyncGenerator[list[Any], None]:
        now = seat.now
        if now is None:
            yield self._page(seat)
            return
        began = time.perf_counter()
        work = asyncio.create_task(self.playing.say(now.run, now.known, text, look or ""))
        while not work.done():
            waited = time.perf_counter() - began
            if not seat.shows(now.run):  # who plays another run is shown that
                work.add_done_callback(lambda done: done.cancelled() or done.exception())
                yield [gr.skip()] * 12
                return
            if waited > 0.3:  # what is refused is refused at once
                yield self._page(seat, asking=text, waited=waited, text=_AS_TYPED)
            await asyncio.wait([work], timeout=0.4)
        yield await self._shown(seat, work, text=text)

    async def go_past(self, seat: PlayTab) -> list[Any]:
        """Let the goal be."""
        now = seat.now
        return await self._shown(seat, now and self.playing.let_be(now.run, now.known))

    async def go_away(self, seat: PlayTab) -> list[Any]:
        """Leave the conversation."""
        now = seat.now
        return await self._shown(seat, now and self.playing.leave(now.run, now.known))

    async def go_on(self, seat: PlayTab) -> list[Any]:
        """Begin the next conversation."""
        now = seat.now
        return await self._shown(seat, now and self.playing.go_on(now.run), done_text="")

    async def _shown(
        self, seat: PlayTab, done: Awaitable[PersonRunState] | None, *,
        done_text: Any = _AS_TYPED, text: Any = _AS_TYPED,
    ) -> list[Any]:  # fmt: skip
        """The page after something was done; where it could not be, as it stands and why. What
        then stands in the box is `done_text`, or `text`."""
        if done is None or seat.now is None:
            return self._page(seat)
        name, known = seat.now.run, seat.now.known
        try:
            standing = await done
            if not seat.shows(name):
                return [gr.skip()] * 12
            seat.now = standing
        except Exception as problem:  # any agent may be tried here
            ours = isinstance(problem, MmragError)
            words = str(problem) if ours else f"{type(problem).__name__}: {problem}"
            note = _message("", words)
            if not seat.shows(name):
                return [gr.skip()] * 12
            try:
                seat.now = await self.playing.settled(name)
            except MmragError as error:
                seat.now, note = None, _message("That cannot be resumed", error)
            same = seat.now is not None and seat.now.known == known
            return self._page(seat, note=note, text=text, keep_look=same)
        return self._page(seat, text=done_text)

    # -- what is shown

    def _page(
        self, seat: PlayTab, *, asking: str = "", waited: float = 0.0, note: str = "",
        text: Any = "", keep_look: bool = False,
    ) -> list[Any]:  # fmt: skip
        now = seat.now
        if asking:
            talk = _talk(now, asking, waited)
            return [*[gr.skip()] * 3, talk, "", *[gr.skip()] * 2, text, *[gr.skip()] * 4]
        talking = now is not None and not now.talk.over
        ways = playwork.look_again_choices(now)
        chosen: dict[str, Any] = {} if keep_look else {"value": ""}
        return [
            _picture(now), _card(now), gr.update(visible=now is None), _talk(now), note,
            gr.update(visible=talking),
            gr.update(choices=ways, visible=len(ways) > 1, **chosen), text,
            playwork.cost_words(now) if talking and now else "Say it",
            gr.update(interactive=talking and now is not None and now.talk.can_let_be),
            gr.update(visible=now is not None and bool(now.talk.over) and not now.finished),
            gr.update(visible=now is not None and now.finished),
        ]  # fmt: skip


def _html(value: str, elem_id: str, script: str | None = None) -> gr.HTML:
    more: Any = {"js_on_load": script} if script else {}
    return gr.HTML(value, elem_id=elem_id, elem_classes="mm-root", apply_default_css=False, **more)


def _picture(now: PersonRunState | None) -> str:
    image = None if now is None else playwork.picture_of(now)
    if now is None or image is None:
        return render("play_picture.html.j2", picture="")
    taken = now.talk.pictures
    pixels = image.pil()
    return render(
        "play_picture.html.j2", picture=data_url(pixels), size=pixels.size,
        boxes=playwork.boxes_of(now, pixels.size), looks=len(taken), how=taken[-1] if taken else "",
    )  # fmt: skip


def _card(now: PersonRunState | None) -> str:
    if now is None:
        return render("play_card.html.j2", now=None)
    return render(
        "play_card.html.j2",
        now=now,
        goals=len(now.talk.agenda.turns),
        goal=min(now.talk.goal + 1, len(now.talk.agenda.turns)),
        left=playwork.seconds_left(now),
        marks=playwork.goal_marks(now),
        solved=playwork.solved_goals(now),
        hint=playwork.hint(now),
        ending=playwork.ENDINGS.get(now.talk.over, ""),
        command=playwork.simulated_command(now),
    )


def _talk(now: PersonRunState | None, asking: str = "", waited: float = 0.0) -> str:
    turns = [] if now is None else playwork.turns_of(now)
    return render("play_talk.html.j2", turns=turns, asking=asking, waited=waited)


def _message(title: str, words: object) -> str:
    return render("message.html.j2", title=title, words=words)
