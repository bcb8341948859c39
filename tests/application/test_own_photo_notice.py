"""What an agent can know of a photograph is said before it fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from called_command import mmrag
from small_runs import picture

from simulator.application.own_photo_notice import own_photo_notice


@pytest.mark.parametrize(
    ("agent", "search", "said"),
    [
        ("grounded", "auto", "knows only the indexed world mini"),
        ("grounded:ocr=off", "idx", "knows only the indexed folder idx"),
        ("task3", "auto", "knows only the indexed world mini"),
        ("task3:model=(openai:name=m)", "auto", ""), ("llm-only:model=x", "auto", ""),
        ("grounded", "none", ""), ("((", "auto", "")
    ]
)  # fmt: skip
def test_who_is_bound_to_an_index(agent: str, search: str, said: str) -> None:
    found = own_photo_notice(agent, "mini", search)
    assert said in found
    assert bool(said) == bool(found)


def test_ask_says_it_beside_the_reply(tmp_path: Path) -> None:
    (tmp_path / "mine.jpg").write_bytes(picture(1))
    asked = ("ask", str(tmp_path / "mine.jpg"), "What is this?", "--agent", "random")
    assert "knows only" not in mmrag(*asked, "--search", "none").stderr
