"""A turn's clock is the agent's: loading models and waiting for a place are not on it."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from small_runs import ByNumber, Equality, make_session, picture, run_all

from mmrag.agents import agents
from mmrag.agents.fakes import FaultyAgent
from mmrag.agents.grounded.abstain import Calibration
from mmrag.agents.own.adapters import PythonAgent, request_of
from mmrag.agents.paper.baselines import Straightforward
from mmrag.errors import AgentError, DataError, SpecError, Unavailable
from mmrag.files.images import LazyImage
from mmrag.metrics.protocols import strikes
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Resources
from mmrag.readiness import capacity, cores
from mmrag.records import Capture, Outcome, Query, Reply, Session, Status, Step, TurnResult, Verdict
from simulator.run.captures import CaptureOptics
from simulator.run.config import RunConfig, make_config
from simulator.run.engine import Rules, hold_conversation, query_of
from simulator.run.gaze import gaze_of
from simulator.run.results.turn_results import score_run
from simulator.run.runner import Plan, run_sessions
from simulator.run.trials import Trial, play, risk_coverage, trials_of
from simulator.store.run_store import RunReader, RunStore

LIMIT = Rules(seconds=1.0)


class Busy(ByNumber):
    """Works for one turn at a time, as an agent does that computes; loads slowly."""

    def __init__(self, capacity: int | None = 1, work: float = 0.15, load: float = 0.0) -> None:
        super().__init__()
        self.capacity = capacity
        self.work, self.load = work, load
        self.core = threading.Lock()
        self.inside = self.most = self.warmed = 0

    def warm(self) -> None:
        time.sleep(self.load)
        self.warmed += 1

    async def answer(self, query: Query) -> Reply:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if not self.warmed:
            await asyncio.to_thread(self.warm)
        await asyncio.to_thread(self.compute)
        self.inside -= 1
        return await super().answer(query)

    def compute(self) -> None:
        with self.core:
            time.sleep(self.work)


def sixteen(turns: int = 1) -> list[Session]:
    return [make_session(i, turns=turns) for i in range(16)]


def results_of(folder: Path) -> list:
    with RunReader(folder) as run:
        return list(run.results())


def test_waiting_for_a_place_is_not_the_agents_time(tmp_path: Path) -> None:
    agent = Busy()  # 16 turns of 0.15 s, one after the other: the last waits 2.3 s
    run_all(tmp_path, sixteen(), agent, concurrency=16, rules=LIMIT)
    found = results_of(tmp_path)
    assert agent.most == 1
    assert not [r for r in found if r.status is Status.TIMEOUT]


def test_who_promises_too_much_is_still_timed(tmp_path: Path) -> None:
    run_all(tmp_path, sixteen(), Busy(capacity=16), concurrency=16, rules=LIMIT)
    assert [r for r in results_of(tmp_path) if r.status is Status.TIMEOUT]


def test_loading_models_is_not_the_first_turns_time(tmp_path: Path) -> None:
    agent = Busy(capacity=4, work=0.01, load=1.3)
    run_all(tmp_path, sixteen(2), agent, concurrency=16, rules=LIMIT)
    assert agent.warmed == 1
    assert not [r for r in results_of(tmp_path) if r.status is Status.TIMEOUT]
    agent.warmed = 0
    run_all(tmp_path, sixteen(2), agent)
    assert agent.warmed == 0  # nothing was left to ask


def test_an_agent_that_cannot_be_made_ready_ends_the_run_unasked(tmp_path: Path) -> None:
    class Bare(ByNumber):
        async def warm(self) -> None:
            await asyncio.sleep(0)
            raise OSError("no weights")

    class Lacking(Bare):
        def warm(self) -> None:  # type: ignore[override]
            raise Unavailable("pip install weights")

    for made, error in ((Bare, AgentError), (Lacking, Unavailable)):
        agent = made()
        with pytest.raises(error, match="weights"):
            run_all(tmp_path, sixteen(), agent, concurrency=16)
        assert not agent.seen
    run_all(tmp_path, sixteen(), ByNumber())
    assert {r.status for r in results_of(tmp_path)} <= {Status.ANSWERED, Status.ABSTAINED}


def test_the_number_of_places_changes_no_record(tmp_path: Path) -> None:
    sessions = [make_session(i, turns=3) for i in range(8)]
    run_all(tmp_path / "one", sessions, Busy(work=0.001), concurrency=1)
    run_all(tmp_path / "many", sessions, Busy(capacity=3, work=0.001), concurrency=16)
    assert [(r.reply, r.status) for r in results_of(tmp_path / "one")] == [
        (r.reply, r.status) for r in results_of(tmp_path / "many")
    ]
    with RunReader(tmp_path / "one") as one, RunReader(tmp_path / "many") as many:
        assert score_run(one) == score_run(many)


def test_every_conversation_has_a_thread(tmp_path: Path) -> None:
    """A plain class that waits for something: 40 at once, whatever the number of cores."""

    class Plain:
        def answer(self, query: Query) -> str:
            time.sleep(0.4)
            return query.text

    sessions = [make_session(i, turns=1) for i in range(40)]
    run_all(tmp_path, sessions, PythonAgent(Plain()), concurrency=40, rules=LIMIT)
    assert {r.status for r in results_of(tmp_path)} == {Status.ANSWERED}


def test_pictures_are_degraded_by_no_more_threads_than_cores(tmp_path: Path) -> None:
    class Slow:
        inside = most = 0
        lock = threading.Lock()

        def choose(self, session: Session, degradation: str, seed: int) -> str:
            return degradation

        def apply(self, session: Session, spec: str, seed: int) -> Session:
            with self.lock:
                self.inside += 1
                self.most = max(self.most, self.inside)
            time.sleep(0.02)
            with self.lock:
                self.inside -= 1
            return session

    optics = Slow()
    work = enumerate([make_session(i, turns=1) for i in range(4 * cores())])
    with RunStore(tmp_path) as store:
        plan = Plan(degradations=("blurred@1",), concurrency=4 * cores())
        asyncio.run(run_sessions(iter(work), ByNumber(), Equality(), store, plan, optics=optics))
    assert optics.most <= cores()


@pytest.mark.parametrize("said", [0, -1, "many", 1.5])
def test_a_capacity_is_a_number_of_turns(said: object) -> None:
    with pytest.raises(AgentError, match="above 0"):
        capacity(Busy(capacity=said))  # type: ignore[arg-type]


def test_adapters_say_what_is_behind_them() -> None:
    class Ready(Busy):
        async def warm(self) -> None:  # type: ignore[override]
            self.warmed += 1

    inner = Ready(capacity=3)
    for outer in (PythonAgent(inner), FaultyAgent(inner)):
        assert capacity(outer) == 3
        asyncio.run(outer.warm())
    assert inner.warmed == 2
    assert capacity(ByNumber()) is None
    none = Resources()
    assert capacity(agents.create("command:run=cat,processes=5", resources=none)) == 5
    assert capacity(agents.create("http:url=http://localhost:9", resources=none)) is None
    assert 1 <= (capacity(agents.create("task1:reader=builtin", resources=none)) or 0) <= cores()


# -- trials

SPEAKS = Calibration(bias=5.0, weights={})


def trial(marks: str) -> Trial:
    """A conversation that was held without abstention: c right, i wrong, - without an answer."""
    session = make_session(1, turns=len(marks))
    results = []
    for index, mark in enumerate(marks):
        step = Step(name="verifier", info={"features": {"match": 1.0}})
        results.append(
            TurnResult(
                session_id=session.id, turn_index=index, status=Status.ANSWERED,
                reply=Reply(text="x", trace=() if mark == "-" else (step,)),
                verdict=Verdict(
                    outcome=Outcome.PERFECT if mark == "c" else Outcome.INCORRECT, judge="hand"
                ),
            )
        )  # fmt: skip
    return tuple(results)


@pytest.mark.parametrize(
    ("marks", "score"),
    [
        ("cc", 1.0),
        ("iicc", -2 / 4),  # nobody hears the last two
        ("iiic", -2 / 4),  # the third failure comes after the end
        ("icic", 0.0),  # never two in a row
        ("i-c", -1 / 3),  # silence is a failure as well
        ("-ic", -1 / 3),
        ("cii", -1 / 3),
    ],
)
def test_a_conversation_ends_with_the_second_failure_in_a_row(marks: str, score: float) -> None:
    assert play(SPEAKS, [trial(marks)]).score == pytest.approx(score)


def test_shares_count_what_is_said_after_a_stop_too() -> None:
    made = play(SPEAKS, [trial("iicc"), trial("c-")])
    assert made.score == pytest.approx((-2 / 4 + 1 / 2) / 2)
    assert (made.right, made.wrong) == pytest.approx((3 / 6, 2 / 6))


def test_who_never_speaks_earns_nothing() -> None:
    made = play(Calibration(bias=-5.0, weights={}), [trial("ccii")])
    assert (made.score, made.right, made.wrong) == (0.0, 0.0, 0.0)


def test_risk_falls_as_the_bar_rises() -> None:
    slope = Calibration(bias=0.0, weights={"match": 2.0})
    rows = [{"match": -1.0}, {"match": 1.0}]  # chances .12 and .88
    points = {p.threshold: p for p in risk_coverage(slope, rows, [False, True], 4)}
    assert (points[0.0].coverage, points[0.0].risk) == (0.5, 0.5)
    assert (points[0.5].coverage, points[0.5].risk) == (0.25, 0.0)
    assert (points[0.95].coverage, points[0.95].risk) == (0.0, 0.0)


def test_an_answer_that_was_kept_back_is_no_sample() -> None:
    (turn,) = trial("c")
    assert turn.reply is not None
    for speaks, candidate, refused in (
        (False, "7", True),
        (False, None, False),
        (True, "7", False),
    ):
        step = Step(name="abstention", info={"speaks": speaks, "candidate": candidate})
        held = replace(turn, reply=replace(turn.reply, trace=(*turn.reply.trace, step)))
        if refused:
            with pytest.raises(DataError, match="kept back"):
                trials_of([held])
        else:
            assert trials_of([held]) == [(held,)]


# -- gaze


def looking(*gazes: tuple[float, float] | None) -> Session:
    session = make_session(1, turns=len(gazes))
    turns = (
        msgspec.structs.replace(turn, gaze=gaze)
        for turn, gaze in zip(session.turns, gazes, strict=True)
    )
    return msgspec.structs.replace(session, turns=tuple(turns))


async def _kept(*_: object) -> None: ...


def seen_by_an_agent(session: Session, rules: Rules) -> list[Query]:
    agent = ByNumber(lambda *_: "c")
    talk = hold_conversation(session, agent, Equality(), _kept, stop=strikes(2), rules=rules)
    asyncio.run(talk)
    return agent.seen


def test_an_agent_is_given_the_gaze_only_where_the_run_says_so() -> None:
    session = looking((0.25, 0.5), None)
    assert [query.gaze for query in seen_by_an_agent(session, Rules())] == [None, None]
    given = seen_by_an_agent(session, Rules(gaze=True))
    assert [query.gaze for query in given] == [(0.25, 0.5), None]


def test_the_gaze_follows_what_was_done_to_the_picture() -> None:
    """A matrix takes 16 pixels twice as large about the left upper corner: (4, 2) becomes (8, 4),
    and what was on the right is out of the picture."""
    session = looking((0.25, 0.125), (0.75, 0.5))
    assert session.capture is not None
    zoomed = msgspec.structs.replace(
        session.capture,
        degradation="truncated@3",
        degraded={"size": [16, 16], "matrix": [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]},
    )
    session = msgspec.structs.replace(session, capture=zoomed)
    assert [gaze_of(session, turn) for turn in session.turns] == [(0.5, 0.25), None]


def test_a_picture_that_was_turned_keeps_the_gaze_on_the_same_pixels() -> None:
    import numpy as np
    from PIL import Image

    pixels = np.zeros((96, 128, 3), np.uint8)
    pixels[40:56, 56:72] = 255
    image = LazyImage.from_pil(Image.fromarray(pixels), name="a square")
    session = msgspec.structs.replace(
        looking((0.5, 0.5)),
        capture=Capture(image=image, focus=(56, 40, 72, 56)),
    )
    turned = CaptureOptics().apply(session, "rotated@2", 3)
    gaze = gaze_of(turned, turned.turns[0])
    assert gaze is not None
    assert turned.capture is not None
    shown = np.asarray(turned.capture.image.pil())
    assert shown[int(gaze[1] * shown.shape[0]), int(gaze[0] * shown.shape[1])].min() > 200


def test_another_picture_has_no_gaze() -> None:
    """A live wearer took it: what was looked at in the first one stands elsewhere."""
    session = looking((0.25, 0.5), (0.25, 0.5))
    other = Capture(image=LazyImage.from_bytes(picture(7)))
    second = msgspec.structs.replace(session.turns[1], capture=other)
    session = msgspec.structs.replace(session, turns=(session.turns[0], second))
    assert query_of(session, second, (), Rules(gaze=True)).gaze is None


def test_the_wire_carries_it_and_stays_as_it_was_without() -> None:
    image = LazyImage.from_bytes(picture())
    assert request_of(Query(text="?", image=image, gaze=(0.25, 0.5)), "1")["gaze"] == (0.25, 0.5)
    assert "gaze" not in request_of(Query(text="?", image=image), "1")


@pytest.mark.parametrize("gaze", [(0.25, 0.5), None])
def test_a_model_is_told_where_the_wearer_looks(gaze: tuple[float, float] | None) -> None:
    model = ScriptedModel("x")
    agent = Straightforward(Resources(), model=model, images=False, web=False, history=False)
    asyncio.run(agent.answer(Query(text="?", image=LazyImage.from_bytes(picture()), gaze=gaze)))
    told = "looks at a point 25 % from the left and 50 % from the top" in model.calls[0][0].text
    assert told is (gaze is not None)


def test_it_is_on_or_off() -> None:
    assert not RunConfig().rules.gaze
    assert make_config({"gaze": "on"}).rules.gaze
    with pytest.raises(SpecError, match="gaze is on or off, not 'yes'"):
        make_config({"gaze": "yes"})
