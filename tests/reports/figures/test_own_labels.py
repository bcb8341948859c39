"""A report on somebody's own data says of it what its author said, and nothing else."""

import re
from pathlib import Path

import msgspec

from simulator import evaluate

_LINES = [
    {
        "session_id": name,
        "meta": {"place": place},
        "passages": [{"id": "p", "title": "Tower", "text": "The tower was built in 1911."}],
        "turns": [{"query": "When was it built?", "references": ["1911"]}],
    }
    for name, place in (("one", "kitchen"), ("two", "street"))
]


def test_a_small_report_shows_every_turn_and_no_section_without_content(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    lines = [{**line, "meta": {}} for line in _LINES]
    file.write_bytes(b"\n".join(msgspec.json.encode(line) for line in lines))
    run = evaluate(lambda _query: "In <1805>.", data=str(file), out=tmp_path / "run")
    page = run.report(tmp_path / "report").read_text()
    told = page.partition('id="turns0"')[2].partition("</section>")[0]
    assert told.count('<td class="wrap">When was it built?</td>') == 2
    assert told.count('<td class="wrap">In &lt;1805&gt;.</td>') == 2
    assert told.count(">1911<") == told.count(">incorrect<") == 2
    assert "title=" not in told  # why a turn was judged so stands there, to be read without a mouse
    assert told.count('<span class="note">') == 2
    assert '<span class="note"></span>' not in told
    assert "(published)" not in page
    sections = re.findall(r'<section id="(\w+?)0">', page)
    assert sections == ["headline", "turns", "costs", "failures", "absent", "provenance"]
    assert set(re.findall(r'<a href="#(\w+?)0">', page)) < set(sections)
    assert "Robustness, stages, slices, conversation, retrieval" in page
    assert "successful turns per conversation" not in page


def test_a_report_of_many_turns_does_not_show_each(sweep_report: Path) -> None:
    assert 'id="turns0"' not in (sweep_report / "report.html").read_text()


def test_cards_and_stages_tell_only_what_the_data_tells(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_bytes(b"\n".join(msgspec.json.encode(line) for line in _LINES))
    run = evaluate(lambda _query: "In 1805.", data=str(file), out=tmp_path / "run")
    page = run.report(tmp_path / "report").read_text()
    cells = re.findall(r"<dt>Where</dt><dd>(.*?)</dd>", page)
    where = [re.sub(r"<[^>]*>", "", cell) for cell in cells]
    assert sorted(where) == ["one, turn 1, kitchen", "two, turn 1, street"]
    assert "Best retrieved passage" not in page
    assert "Stages cannot be told apart here" in page
