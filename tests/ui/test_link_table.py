"""What the Robustness page says of links."""

from __future__ import annotations

from pathlib import Path

from linked_runs import write_linked_run

from simulator.store.run_reader import RunReader
from ui.render import render
from ui.replay.conversation_list import ConversationList
from ui.replay.run_figures import RunFigures
from ui.views.robustness_view import RobustnessFigures, curves


def test_the_page_shows_what_each_link_costs(tmp_path: Path) -> None:
    run = write_linked_run(tmp_path / "run")
    breakage = RobustnessFigures(RunFigures({"run": ConversationList(RunReader(run))}))
    page = breakage.of("run")
    assert page.link is not None
    assert [row["lost"] for row in page.link["rows"]] == [0, 34]
    shown = str(
        render("robustness.html.j2", page=page, name="run", runs=["run"], curves=curves, least=20)
    )
    assert "What the link costs" in shown
    assert "no setting is shown to cost no more than 5 points" in shown
    assert breakage.examples("run", "link:stream:thing").lost == 34
