"""The wearer as Gymnasium's environment: its checker passes, policies get what runs get."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="pip install 'mmrag[gym]'")

from gymnasium.utils.env_checker import check_env

from mmrag.agents.fakes import RandomAgent
from mmrag.errors import Unavailable, UsageError
from mmrag.records import Outcome, Reply, Status, TurnResult, Verdict
from simulator import WearerEnv, evaluate
from simulator.glasses.wearer_env import reward_of
from simulator.parts.run_parts import Parts
from simulator.run.run_config import RunConfig

LIMIT = 4
REFERENCES = {
    (session.id, turn.index): turn.reference.text
    for _, session in Parts(RunConfig(limit=LIMIT)).sessions()
    for turn in session.turns
}


@pytest.fixture
def env() -> Iterator[Any]:
    made = WearerEnv(limit=LIMIT, size=(24, 32))
    yield made
    made.close()


Policy = Callable[[Any, dict[str, Any]], str]


def episode(env: Any, session: str, policy: Policy) -> tuple[list[float], list[dict[str, Any]]]:
    _, info = env.reset(options={"session": session})
    rewards, infos, over = list[float](), list[dict[str, Any]](), False
    while not over:
        action = {"reply": policy(env, info), "ask": 0}
        observation, reward, over, truncated, info = env.step(action)
        assert observation in env.observation_space
        assert truncated is False
        rewards.append(reward)
        infos.append(info)
    return rewards, infos


def total(env: Any, policy: Policy) -> float:
    ids = dict.fromkeys(name for name, _ in REFERENCES)
    return sum(sum(episode(env, name, policy)[0]) for name in ids)


def test_gymnasiums_checker_passes(env: Any) -> None:
    check_env(env, skip_render_check=True)  # raises at what it does not like
    first, _ = env.reset(seed=1)
    again, _ = env.reset(seed=1)
    assert first in env.observation_space
    assert first["words"] == again["words"]


def test_an_oracle_gets_all_there_is(env: Any) -> None:
    assert total(env, lambda _, info: REFERENCES[info["session"], info["turn"]]) == len(REFERENCES)


def test_silence_gets_nothing_and_ends_after_two_turns(env: Any) -> None:
    name = next(iter(REFERENCES))[0]
    rewards, infos = episode(env, name, lambda *_: "I don't know")
    assert rewards == [0, 0]
    assert [info["outcome"] for info in infos] == ["missing"] * 2
    assert infos[0]["reference"] == REFERENCES[name, 0]


def test_random_letters_are_wrong_twice_and_then_nobody_asks(env: Any) -> None:
    env.action_space.seed(1)

    def drawn(*_: Any) -> str:
        return "".join(c for c in env.action_space.sample()["reply"] if c.isalpha())[:40]

    assert total(env, drawn) == -2 * len({name for name, _ in REFERENCES})


def test_an_agent_gets_the_score_of_its_run(env: Any, tmp_path: Any) -> None:
    agent = RandomAgent(abstain="0.3")
    run = evaluate(agent, limit=LIMIT, out=tmp_path / "run", progress=False)
    found = run.score(resamples=0)["all"]
    expected = found["truthfulness_score"] * found["total"]

    def asked(env: Any, _: Any) -> str:
        return asyncio.run(agent.answer(env.query)).text

    assert total(env, asked) == pytest.approx(expected)
    assert expected < 0


def test_the_same_seed_draws_the_same_conversations(env: Any) -> None:
    def drawn(seed: int) -> list[str]:
        first = env.reset(seed=seed)[1]["session"]
        return [first, *(env.reset()[1]["session"] for _ in range(5))]

    assert drawn(7) == drawn(7)
    assert any(drawn(seed) != drawn(7) for seed in range(3))


def test_live_wearers_hear_requests() -> None:
    env = WearerEnv(limit=1, size=(24, 32), wearer="live")
    try:
        _, info = env.reset(seed=0)
        assert info["may_ask"]
        observation, reward, over, _, after = env.step({"reply": "Which one?", "ask": 1})
        assert (reward, over) == (0.0, False)
        assert after["turn"] == 1
        assert observation["words"]
    finally:
        env.close()


@pytest.mark.parametrize(
    ("outcome", "step", "reward"),
    [
        (Outcome.PERFECT, False, 1), (Outcome.ACCEPTABLE, False, 1), (Outcome.MISSING, False, 0),
        (Outcome.INCORRECT, False, -1), (Outcome.INCORRECT, True, 0), (Outcome.UNSCORED, False, 0),
    ],
)  # fmt: skip
def test_rewards_are_the_steps_of_the_score(outcome: Outcome, step: bool, reward: int) -> None:
    verdict = Verdict(outcome=outcome, judge="j")
    result = TurnResult(session_id="s", turn_index=0, status=Status.ANSWERED, step=step,
                        reply=Reply(text="x"), verdict=verdict)  # fmt: skip
    assert reward_of(result) == reward


def test_without_gymnasium_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "simulator.glasses.wearer_env")
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(Unavailable, match=r"pip install 'mmrag\[gym\]'"):
        importlib.import_module("simulator.glasses.wearer_env")


@pytest.mark.parametrize(
    "action",
    [
        {}, {"reply": "x"}, {"ask": 0}, {"reply": "x", "ask": 4}, {"reply": "x", "ask": -1},
        {"reply": "x", "ask": "which"}, {"reply": "x", "ask": None}, {"reply": "x", "ask": 1.5},
        {"reply": None, "ask": 0}, {"reply": "x", "ask": [0]}, "x", None, ("x", 0), ["x" * 9999],
    ],
)  # fmt: skip
def test_what_is_no_action_is_one_line_and_the_turn_is_still_asked(env: Any, action: Any) -> None:
    name, _ = next(iter(REFERENCES))
    env.reset(options={"session": name})
    with pytest.raises(UsageError, match="an action is") as caught:
        env.step(action)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
    assert env.step({"reply": REFERENCES[name, 0], "ask": np.array(0)})[1] == 1


@pytest.mark.parametrize("options", ["multi-00000", ["multi-00000"], 0.5])
def test_what_are_no_options_is_one_line(env: Any, options: Any) -> None:
    with pytest.raises(UsageError, match=r"options is \{'session': id\}"):
        env.reset(options=options)


def test_what_cannot_be_done_is_one_line(env: Any) -> None:
    with pytest.raises(UsageError, match=r"call reset\(\)"):
        env.step({"reply": "x", "ask": 0})
    with pytest.raises(UsageError, match="no session 'nobody'"):
        env.reset(options={"session": "nobody"})
    env.close()
    with pytest.raises(UsageError, match="closed"):
        env.reset(seed=1)
