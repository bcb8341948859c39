"""The board of runs, what people note on them, and runs that are started from it."""

from __future__ import annotations

import json
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from small_runs import done, write
from ui_parts import EVIL, result, session, write_run

from mmrag.errors import ConflictError, StoreError, UsageError
from mmrag.records import Outcome, Status, Verdict
from simulator.run.run_config import RunConfig
from simulator.store.run_store import RunStore
from ui.home.board import Board, BoardRow
from ui.home.launch import Launcher
from ui.home.notes import FILE, Note, read_note, write_note
from ui.home.summary import BoardFigure, RunSummary, Summaries, summarise
from ui.opened_runs import Runs, open_runs
from ui.pages.home import Home
from ui.pages.script_calls import calls
from ui.render import points, render
from ui.replay.run_figures import RunFigures
from ui.views.robustness_view import RobustnessFigures


def settled(find: Callable[[], Any]) -> Any:
    """What is found once it is there."""
    for _ in range(2400):
        if found := find():
            return found
        time.sleep(0.05)
    raise AssertionError("it never came")


def home(folder: Path, launcher: Launcher | None = None) -> Home:
    return Home(RunFigures(Runs(watched=folder)), launcher)


def whole_board(page: Home, **asked: str) -> dict[str, Any]:
    (call,) = calls(page.show_board)
    return settled(lambda: (found := call(asked)) and not found["busy"] and found)


def test_a_summary_is_kept_until_its_run_is_written_again(tmp_path: Path) -> None:
    folder, cache = write_run(tmp_path / "run", 2), tmp_path / "cache"
    first = settled(lambda: Summaries(cache).get(folder))
    assert (first.agent, first.data, first.conditions) == ("scripted", "test", 2)
    assert (first.main, first.sessions) == ("clean", 2)
    again = Summaries(cache).get(folder)  # another start of the app: nothing is computed
    assert again == first
    write_run(folder, 5)
    followed = Summaries(cache)
    assert settled(lambda: (found := followed.get(folder)) and found.sessions == 5 and found)
    for kept in cache.iterdir():
        kept.write_text("{}")  # a damaged cache is computed anew
    assert settled(lambda: Summaries(cache).get(folder)).sessions == 5


def test_runs_come_go_and_break_without_hiding_the_others(tmp_path: Path) -> None:
    write_run(tmp_path / "good", 2)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "run.sqlite").write_text("no data base")
    page = home(tmp_path)
    board = whole_board(page)["board"]
    assert 'data-run="good"' in board
    assert 'data-v-state="unreadable"' in board
    write_run(tmp_path / "late", 1, finished=False)
    shutil.rmtree(broken)
    board = whole_board(page)["board"]
    assert re.findall(r'data-run="(\w+)"', board) == ["late", "good"]
    assert 'data-v-state="broken off"' in board
    gone = whole_board(page, run="broken")
    assert "no run called &#39;broken&#39;" in gone["hero"]
    (wrong,) = calls(page.show_wrong)
    assert "no run called" in wrong({"run": "broken"})["error"]


def test_what_went_wrong_is_asked_for_when_there_is_something_to_read(tmp_path: Path) -> None:
    """A page asks again as the edition changes; it once changed before the run had been read."""
    folder = write_run(tmp_path / "run", 2)
    (show,) = calls((page := home(tmp_path)).show_board)
    first = show({})
    assert (first["readable"], first["reading"], first["edition"]) == (False, True, "")
    assert whole_board(page)["edition"].startswith(f"{folder.name}/")


def test_a_board_draws_to_its_data_and_tells_what_another_run_would_cost(tmp_path: Path) -> None:
    write_run(tmp_path / "run", 4)
    known = summarise(tmp_path / "run")
    assert known.by_condition == {"clean": 1.0, "low-light@3": -0.25}
    board = whole_board(home(tmp_path))["board"]
    assert "Truthfulness: clean +100.0, low-light&#64;3 −25.0" in board
    zero, level = re.findall(r'y1="([\d.]+)" y2="([\d.]+)"/>', board)[1]
    assert (zero, level) == ("16.0", "20.0")  # from −25 to 100 in 20 px
    (seconds,) = re.findall(r'data-seconds="([\d.]+)"', board)
    assert float(seconds) == pytest.approx(known.seconds / 8)


def test_an_empty_folder_teaches_how_to_make_a_run(tmp_path: Path) -> None:
    page = home(tmp_path / "nothing")
    assert "mmrag run --data mini" in whole_board(page)["board"]


def test_the_bar_of_outcomes_is_drawn_to_scale() -> None:
    known = RunSummary(
        right=0.026, missing=0.974, wrong=0.0, turns=38, truthfulness=BoardFigure(0.026, None, None)
    )
    row = BoardRow(name="r", summary=known, note=Note(), state="finished", words="", when=0.0)
    drawn = render("hero.html.j2", row=row, lost="")
    widths = re.findall(r'mm-o-(\w+)" style="flex-grow: ([\d.]+)"', drawn)
    assert widths == [("right", "2.60"), ("missing", "97.40")]
    assert "0.0% wrong" in drawn


def test_what_a_run_left_at_its_default_is_named_too(tmp_path: Path) -> None:
    write(tmp_path / "run", (session(0), []), config=RunConfig())
    made = summarise(tmp_path / "run")
    assert (made.agent, made.data, made.trouble) == ("grounded", "mini", "")


def test_a_run_in_which_every_turn_failed_says_so_and_how_to_ask_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for finished in (False, True):
        one = session(0)
        lost = {"status": Status.AGENT_ERROR, "reply": None, "verdict": None}
        turns = [done(one, turn.index, "c", **lost) for turn in one.turns]
        write(folder, (one, turns), finished=finished)
        hero = whole_board(home(tmp_path), run="run")["hero"]
        assert ("No turn is scored yet" in hero) is not finished
        assert ("Every turn failed, so there is no figure" in hero) is finished
        assert (f"Ask them again with: mmrag resume {folder} --errors" in hero) is finished
        shutil.rmtree(folder)
    own = RunConfig(data="mini", agent="object:name=__main__.mine,source=abc")
    write(folder, (one, turns), finished=True, config=own)
    hero = whole_board(home(tmp_path), run="run")["hero"]
    assert "Every turn failed" in hero
    assert "mmrag resume" not in hero  # no command has what lives in somebody's program


def test_what_went_wrong_leads_to_the_conversations(tmp_path: Path) -> None:
    page = home(write_run(tmp_path / "run", 12).parent)
    wrong = page.show_wrong({"run": "run"})["wrong"]
    assert "/?tab=robustness&amp;run=run&amp;condition=low-light&#64;3" in wrong
    assert "/?tab=replay&amp;run=run&amp;stopped=yes" in wrong
    assert "/?tab=robustness&amp;run=run" in wrong
    assert '95 % of turns took at most <b class="mm-tab">0.40 s</b>' in wrong
    failed, scored = map(int, re.findall(r"Stage that failed, in (\d+) of (\d+) turns", wrong)[0])
    assert failed == sum(map(int, re.findall(r'<b class="mm-tab">(\d+)</b></li>', wrong))) < scored


def test_the_largest_loss_is_the_same_on_every_page(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", 8)
    with RunStore(folder) as store:
        verdict = Verdict(outcome=Outcome.INCORRECT, judge="rules/1", reason="looked at again")
        store.add_verdict(result(session(0, "clean"), 0, "c"), verdict).result()
    page = home(tmp_path)
    wrong = page.show_wrong({"run": "run"})["wrong"]
    worst = RobustnessFigures(page.analysis).of("run").worst
    assert worst is not None
    assert f">{points(worst.points / 100)}<" in wrong


def test_two_who_note_at_once_lose_nothing(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", 1)
    assert write_note(folder, "keep, first look", "mine", seen=0).tags == ("keep", "first look")
    both = write_note(folder, "theirs", "another's", seen=0)  # who had seen nothing of it
    assert both.tags == ("keep", "first look", "theirs")
    assert both.note == "another's\n\nmine"
    assert write_note(folder, "theirs", "another's", seen=2).note == "another's"
    threads = [
        threading.Thread(target=write_note, args=(folder, f"tag {n}", f"note {n}", 3))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now = read_note(folder)
    assert now.edition == 11
    assert {f"tag {n}" for n in range(8)} <= set(now.tags)
    assert all(f"note {n}" in now.note for n in range(8))
    with (folder / FILE).open("a") as file:
        file.write("no json\n")
    assert read_note(folder).note == now.note


def test_a_note_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", 1)
    (folder / FILE).mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        write_note(folder, "", "words", 0)
    with pytest.raises(StoreError, match="gone"):
        write_note(tmp_path / "nowhere", "", "words", 0)


def test_hostile_notes_and_names_show_as_text(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "<img src=x onerror=alert(1)>", 1)
    write_note(folder, "<b>bold</b>", EVIL, 0)
    found = whole_board(home(tmp_path))
    for page in (found["board"], found["hero"]):
        assert "<img src" not in page
        assert "<script" not in page
        assert "<b>bold" not in page


class Fake(Launcher):
    """Starts a few lines of Python in the place of `mmrag run`."""

    program = "import time; print('conversations: 1 of 9', flush=True); time.sleep(60)"

    def _command(self, *_: Any) -> list[str]:
        return [sys.executable, "-c", self.program]


def test_a_run_is_started_watched_and_stopped(tmp_path: Path) -> None:
    launcher = Fake(tmp_path, ["random"], ["mini"])
    board = Board(Runs(watched=tmp_path), Summaries(), launcher)
    name = launcher.start("random", "mini", "clean", 3)
    assert name == "mini-random-3"
    row = settled(lambda: [r for r in board.rows() if r.words])[0]
    assert (row.name, row.state, row.words) == (name, "starting", "conversations: 1 of 9")
    launcher.start("random", "mini", "clean", 3, name="../../etc/x y")
    assert [one.name for one in launcher.started()] == [name, "etc-x-y"]
    with pytest.raises(ConflictError, match="2 runs are going on"):
        launcher.start("random", "mini", "clean", 3)
    for one in launcher.started():
        launcher.stop(one.name)
    assert settled(lambda: not any(one.running for one in launcher.started()))
    assert {r.state for r in board.rows()} == {"failed"}
    launcher.close()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"agent": "command:run=rm"}, "--agent SPEC"),
        ({"data": "/etc"}, "--data DATA"),
        ({"pictures": "all of them"}, "pictures are"),
        ({"limit": 0}, "from 1"),
    ],
)
def test_only_what_is_offered_is_started(tmp_path: Path, wrong: dict[str, Any], words: str) -> None:
    launcher = Fake(tmp_path, ["random"], ["mini"])
    asked = {"agent": "random", "data": "mini", "pictures": "clean", "limit": 2, **wrong}
    with pytest.raises(UsageError, match=words):
        launcher.start(**asked)
    assert launcher.started() == []


def test_a_real_run_appears_on_the_board(tmp_path: Path) -> None:
    launcher = Launcher(tmp_path, ["random"], ["mini"], "none")
    page = home(tmp_path, launcher)
    (start,) = calls(page.start_run)
    begun = start({"agent": "random", "data": "mini", "pictures": "clean", "limit": "2"})
    name = begun["run"]
    assert settled(lambda: not launcher.started()[0].running)
    assert launcher.started()[0].code == 0, launcher.started()[0].words
    found = whole_board(page, run=name)
    assert 'data-v-state="finished"' in found["board"]
    assert json.loads(json.dumps(found))["run"] == name
    launcher.close()


def test_a_report_of_anybody_runs_nothing(server: Any, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "given", 1)
    (folder / "report").mkdir()
    (folder / "report" / "report.html").write_text("<script>hacked = 1</script>")
    server.catalogues.update(open_runs([folder]))
    policy = httpx.get(f"{server.url}/report/given").headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    for place in ("first", "nobody", "..%2Fgiven"):
        assert httpx.get(f"{server.url}/report/{place}").status_code == 404
