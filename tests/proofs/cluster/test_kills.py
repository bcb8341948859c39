"""Workers, a keeper, a node and the driver are killed: no turn is lost, none is there twice."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import MEMORY, Workplace, aggregate, keepers, records, until

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

FLAGS = ("--backend", "ray", "--stores", "2", "--address")


def test_killed_a_run_on_many_machines_ends_as_in_one_process(cluster: Any, tmp_path: Path) -> None:
    place, many = Workplace(tmp_path, wait=0.25), tmp_path / "many"
    data = {"limit": 16, "degrade": "clean,low-light@3"}
    node = cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    on_ray = (*FLAGS, cluster.address, "--concurrency", "9")
    driver = place.start("run", *place.flags("many", **data), *on_ray)
    until(lambda: len(place.asked()) > 15)
    os.kill(keepers(many)[0], signal.SIGKILL)
    until(lambda: len(place.asked()) > 30)
    os.kill(place.asked()[-1][0], signal.SIGKILL)  # a worker
    until(lambda: len(place.asked()) > 50)
    cluster.remove_node(node, allow_graceful=False)
    until(lambda: len(place.asked()) > 70)
    summary = json.loads(place.run("show", "many", "--json"))  # it can be read meanwhile
    assert 0 < sum(summary["statuses"].values()) < 70 + 9
    assert driver.poll() is None, place.said()
    driver.kill()
    driver.wait()
    before = len(place.asked())
    place.run("resume", "many", *on_ray, "--json")
    again = len(place.asked()) - before

    (tmp_path / "wait").write_text("0")
    (tmp_path / "asked").rename(tmp_path / "asked-many")
    place.run("run", *place.flags("one", **data))
    assert aggregate(many) == aggregate(tmp_path / "one")
    assert records(many) == records(tmp_path / "one")
    assert not (many / "shards").exists()
    assert "raylet" not in place.said()  # of dead workers the run tells itself
    turns = len(place.asked())
    assert 0 < again < turns - 40  # what was committed before the driver died is not asked again
    asked = (tmp_path / "asked-many").read_text().splitlines()
    assert turns < len(asked) <= turns + 4 * 9  # a kill repeats no more than the turns in flight


def test_a_conversation_that_kills_its_workers_costs_its_own_turns(
    cluster: Any, tmp_path: Path
) -> None:
    place = Workplace(tmp_path)
    place.run("run", *place.flags("one", limit=6))
    guilty = place.asked()[-1][1].partition("/")[0]
    (tmp_path / "poison").write_text(f"{guilty}/1")
    on_ray = (*FLAGS, cluster.address, "--workers", "2", "--concurrency", "4", "--json")
    place.run("run", *place.flags("many", limit=6), *on_ray)
    for one, many in zip(records(tmp_path / "one"), records(tmp_path / "many"), strict=True):
        if many["session_id"] != guilty or many["turn_index"] == 0:
            assert many == one
        else:
            assert many["status"] == "agent_error"
            assert "quarantined: 4 workers died over this conversation" in many["error"]
    took = json.loads(place.run("show", "many", "--json"))["cluster"]
    assert (took["workers_died"], took["quarantined"]) == (4, 1)


def test_what_cannot_be_made_is_one_line_before_any_worker(cluster: Any, tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    flags = place.flags("many", limit=6, agent="python:name=chain/Chein")
    driver = place.start("run", *flags, *FLAGS, cluster.address, "--concurrency", "8")
    assert driver.wait(60) == 2
    said = [line for line in place.said().splitlines() if line.strip()]
    assert len(said) == 1
    assert said[0].startswith("error: python:name=chain/Chein: ")
    assert "is called 'Chein'" in said[0]
