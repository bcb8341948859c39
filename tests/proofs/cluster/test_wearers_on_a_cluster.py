"""Live wearers whose conversations many machines hold: the same words, pictures and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from called_command import mmrag
from cluster_parts import Workplace, aggregate, records, until

from simulator.store.run_reader import RunReader

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

LIVE = {"wearer": "live", "degrade": "low-light@3", "limit": 4, "stop": "strikes(2)"}

ASKING = """
from mmrag.records import Reply

class Asking(Chain):
    async def answer(self, query):
        text = await super().answer(query)
        if query.turn_index % 3 == 0 and not query.earlier:  # the data set has that picture
            return Reply(text="Could I see it in the light?", ask="look")
        return "I don't know." if query.turn_index % 3 == 1 else text
"""


class Talks(Workplace):
    """Live runs of an agent that asks for a better look."""

    def __init__(self, folder: Path, cluster: Any, wait: float = 0.0) -> None:
        super().__init__(folder, wait)
        with (folder / "chain.py").open("a") as file:
            file.write(ASKING)
        flags = ("--backend", "ray", "--address", cluster.address)
        self.on_ray = (*flags, "--workers", "2", "--concurrency", "4")

    def flags(self, out: str, **more: object) -> list[str]:
        return super().flags(out, agent="python:name=chain/Asking", **LIVE, **more)


def sessions(run: Path) -> list[Any]:
    """What every wearer said and showed."""
    with RunReader(run) as reader:
        found = list(reader.sessions())
    for session in found:
        assert all(turn.capture.image.data for turn in session.turns if turn.capture)
    return [msgspec.to_builtins(s, enc_hook=lambda image: image.sha256) for s in found]


def test_killed_a_live_run_goes_on_with_the_words_that_were_to_come(
    cluster: Any, tmp_path: Path
) -> None:
    place = Talks(tmp_path, cluster, wait=0.2)
    driver = place.start("run", *place.flags("many"), *place.on_ray)
    until(lambda: len(place.asked()) > 9)
    driver.kill()
    driver.wait()
    (tmp_path / "wait").write_text("0")
    place.run("resume", "many", *place.on_ray)
    place.run("run", *place.flags("one"))
    many, one = tmp_path / "many", tmp_path / "one"
    moves = {turn["wearer"]["move"] for session in sessions(one) for turn in session["turns"]}
    assert {"look", "ask"} < moves
    assert sessions(many) == sessions(one)
    assert records(many) == records(one)
    assert aggregate(many) == aggregate(one)
    assert "No problem found." in mmrag("verify", str(many)).stdout


def test_a_conversation_that_kills_its_workers_ends_with_every_goal_asked(
    cluster: Any, tmp_path: Path
) -> None:
    place = Talks(tmp_path, cluster)
    place.run("run", *place.flags("one"))
    guilty = place.asked()[0][1].partition("/")[0]
    (tmp_path / "poison").write_text(f"{guilty}/1")
    place.run("run", *place.flags("many"), *place.on_ray)
    many = tmp_path / "many"
    for one, other in zip(sessions(tmp_path / "one"), sessions(many), strict=True):
        assert (one == other) is (one["id"] != guilty)
    with RunReader(many) as run:
        results = run.turns(guilty, "low-light@3")
        over = run.session(guilty, "low-light@3").extra["wearer"]["over"]
    first, *rest = (str(result.status) for result in results)
    assert first == "abstained"
    assert set(rest) == {"agent_error"}  # which is no failure of the assistant: nobody leaves
    assert over == "done"
    assert "quarantined: 4 workers died over this conversation" in str(results[1].error)
    assert json.loads(place.run("show", "many", "--json"))["cluster"]["quarantined"] == 1
    assert "No problem found." in mmrag("verify", str(many)).stdout
