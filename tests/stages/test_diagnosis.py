"""Oracles and agents that fail at one stage by design: found out there, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from staged_runs import AllTruth, diagnosed, dues_of, hold_staged, some, without

from mmrag.agents.fakes import ORACLES, Oracle
from mmrag.protocols import Agent
from mmrag.records import Query, Reply, Session
from simulator.reports.figures.diagnosis import IGNORES, diagnosis_sentences
from simulator.reports.figures.report import ReportOptions, load_report_runs
from simulator.run.capture_optics import CaptureOptics
from simulator.stages.truth import KnownTruth, OwnTruth
from simulator.stages.truth_stage_names import LOSSES
from simulator.store.run_reader import RunReader


@pytest.mark.parametrize("needs", ORACLES[1:])
def test_an_oracle_is_right_from_its_stage_on_and_never_before(needs: str, tmp_path: Path) -> None:
    sessions = some(3)
    hold_staged(tmp_path / "run", sessions, Oracle(dues_of(sessions), needs))
    with RunReader(tmp_path / "run") as run:
        for at, stage in enumerate(ORACLES[1:], 1):
            condition = "clean" if stage == "whole" else stage
            for session in sessions:
                right = [t.verdict.outcome.is_correct for t in run.turns(session.id, condition)]
                assert right == [at >= ORACLES.index(needs)] * 3, (stage, right)


@pytest.mark.parametrize(("needs", "lost"), list(zip(ORACLES[2:], LOSSES.values(), strict=False)))
def test_all_points_are_lost_at_the_one_stage(needs: str, lost: str, tmp_path: Path) -> None:
    sessions = some(4)
    hold_staged(tmp_path / "run", sessions, Oracle(dues_of(sessions), needs))
    (fall,) = diagnosed(tmp_path / "run", resamples=0)["falls"]
    losses = {one["loss"]: one["estimate"] for one in fall["losses"]}
    assert fall["score"]["estimate"] == 0
    if needs == "pointed" or "finding" in losses:
        assert losses == {name: float(name == lost) for name in losses}
    else:  # it says the same with a box as without
        assert losses["finding and recognising"] == float(lost in ("finding", "recognising"))
        assert sum(losses.values()) == pytest.approx(1)
        assert losses[lost if lost in losses else "finding and recognising"] == 1


def test_what_darkness_costs_is_told_by_stage(tmp_path: Path) -> None:
    sessions = some(4)
    dues = dues_of(sessions)

    class Lost:
        """Finds nothing in the dark, and half of it in the light."""

        async def answer(self, query: Query) -> Reply:
            due = dues[query.session_id, query.turn_index]
            dark = query.image is not None and "low-light" in query.image.name
            lost = dark or query.turn_index == 0
            return Reply(text="?" if lost and query.image and not query.gaze else due.answer)

    hold_staged(tmp_path / "run", sessions, Lost(), degradations=("clean", "low-light@3"))
    found = diagnosed(tmp_path / "run", resamples=0)
    clean, dark = found["falls"]
    assert [one["loss"] for one in clean["losses"]] == list(LOSSES.values())[::-1]
    assert clean["losses"][-1]["estimate"] == pytest.approx(2 / 3)  # a wrong reply costs two
    assert dark["losses"][-1]["estimate"] == pytest.approx(2)
    (cost,) = found["costs"]
    parts = {part["loss"]: part["estimate"] for part in cost["parts"]}
    assert cost["whole"]["estimate"] == pytest.approx(4 / 3)
    assert parts == {"finding": pytest.approx(4 / 3), "recognising": 0}
    assert diagnosis_sentences(found)[0].startswith(
        "Of what low-light@3 costs (133.3), 133.3 to finding, 0.0"
    )
    for fall in (clean, dark):  # the losses and the score are a hundred points
        assert sum(x["estimate"] for x in fall["losses"]) + fall["score"]["estimate"] == 1


def test_stages_without_a_picture_are_asked_once(tmp_path: Path) -> None:
    sessions = some(2)
    asked: list[Query] = []

    class Listens:
        async def answer(self, query: Query) -> Reply:
            asked.append(query)
            return Reply(text="?")

    conditions = ("clean", "low-light@3", "rotated@3")
    hold_staged(tmp_path / "run", sessions, Listens(), degradations=conditions)
    seen = sum(query.image is not None for query in asked)
    assert (seen, len(asked) - seen) == (2 * 3 * 2 * 3, 2 * 3 * 3)
    with RunReader(tmp_path / "run") as run:
        assert run.conditions() == [
            "clean", "low-light@3", "low-light@3/pointed", "named", "paged", "pointed",
            "rotated@3", "rotated@3/pointed", "told",
        ]  # fmt: skip
    before = len(asked)
    hold_staged(tmp_path / "run", sessions, Listens(), degradations=conditions)
    assert len(asked) == before  # resumed, nothing is asked again


def test_an_agent_that_makes_nothing_of_boxes_is_told_of(tmp_path: Path) -> None:
    class Deaf:
        async def answer(self, query: Query) -> Reply:
            return Reply(text="the same" if query.image else "something else")

    hold_staged(tmp_path / "run", some(2), Deaf())
    found = diagnosed(tmp_path / "run", resamples=0)
    assert [one["stage"] for one in found["stages"]] == ["whole", "named", "paged", "told"]
    assert found["left_out"] == [{"stage": "pointed", "why": IGNORES, "sessions": 2}]
    losses = [one["loss"] for one in found["falls"][0]["losses"]]
    assert losses[-1] == "finding and recognising"


def test_an_agent_that_ignores_the_picture_is_told_of(tmp_path: Path) -> None:
    class Blind:
        async def answer(self, query: Query) -> Reply:
            return Reply(text=f"a kettle, {query.text}")

    class Seeing:
        async def answer(self, query: Query) -> Reply:
            return Reply(text=query.image.name if query.image else "?")

    def told(name: str, agent: Agent, sessions: int) -> bool:
        dark = ("clean", "low-light@3")
        hold_staged(tmp_path / name, some(sessions), agent, text="named", degradations=dark)
        return "seems not to look" in " ".join(
            diagnosis_sentences(diagnosed(tmp_path / name, resamples=0))
        )

    assert told("blind", Blind(), 5)
    assert not told("few", Blind(), 4)  # of each picture and its dark one: too few to say
    assert not told("seeing", Seeing(), 5)


def test_a_stage_that_the_data_cannot_give_is_left_out(tmp_path: Path) -> None:
    """Own data with a name and no box, no passages and no facts."""
    sessions = [
        without(
            session,
            turns=tuple(
                without(turn, extra={"entity_name": "Alder Kettle"}) for turn in session.turns
            ),
        )
        for session in some(2)
    ]

    class Names:
        async def answer(self, query: Query) -> Reply:
            return Reply(text="I don't know" if query.image else query.text, abstained=False)

    why = CaptureOptics(OwnTruth()).lacking(sessions[0], ("pointed", "named", "paged", "told"))
    assert why == {
        "pointed": "no box",
        "paged": "no passages that are known to answer",
        "told": "no passages that are known to answer",
    }
    hold_staged(tmp_path / "run", sessions, Names(), truth=OwnTruth())
    with RunReader(tmp_path / "run") as run:
        assert run.conditions() == ["clean", "named"]
        assert run.turns("s000", "named")[0].query == "question 0 of 0? (This is Alder Kettle.)"
    (fall,) = diagnosed(tmp_path / "run", resamples=0)["falls"]
    assert [one["loss"] for one in fall["losses"]] == [
        "searching and reading and reasoning", "finding and recognising",
    ]  # fmt: skip


def test_where_few_sessions_have_a_stage_those_are_compared(tmp_path: Path) -> None:
    class HalfTruth(AllTruth):
        def of(self, session: Session) -> list[KnownTruth]:
            known = super().of(session)
            return [one._replace(box=None) for one in known] if session.id == "s000" else known

    sessions = some(3)
    hold_staged(tmp_path / "run", sessions, Oracle(dues_of(sessions), "pointed"), truth=HalfTruth())
    (fall,) = diagnosed(tmp_path / "run", resamples=0)["falls"]
    assert fall["sessions"] == 2


def test_other_figures_know_nothing_of_stages(tmp_path: Path) -> None:
    sessions = some(3)
    hold_staged(tmp_path / "run", sessions, Oracle(dues_of(sessions), "named"))
    with RunReader(tmp_path / "run") as reader:
        (loaded,), _, _ = load_report_runs([reader], ReportOptions())
        assert loaded.frame.conditions == ["clean"]
        assert len(loaded.frame) == 9
        assert loaded.frame.starts.tolist() == [0, 3, 6]
        assert loaded.staged is not None
        assert len(loaded.staged) == 45


@pytest.mark.proof("time")
@pytest.mark.parametrize(("needs", "lost"), [("named", "recognising"), ("paged", "searching"),
                                             ("told", "reading")])  # fmt: skip
def test_blind_forgetful_and_illiterate_agents_are_found_out(
    needs: str, lost: str, tmp_path: Path
) -> None:
    """Each fails at its stage in every other turn, and answers one of ten wrongly anyhow."""
    sessions, found_out = some(40), 0
    for seed in range(20):
        agent = Oracle(dues_of(sessions), needs, share=0.5, noise=0.1, seed=str(seed))
        hold_staged(tmp_path / str(seed), sessions, agent)
        (fall,) = diagnosed(tmp_path / str(seed), resamples=0)["falls"]
        sure = [one["loss"] for one in fall["losses"] if (one["p_holm"] or 1) <= 0.05]
        found_out += sure == [lost]
    assert found_out >= 19
