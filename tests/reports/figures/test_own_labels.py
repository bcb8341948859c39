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


def test_cards_and_stages_tell_only_what_the_data_tells(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_bytes(b"\n".join(msgspec.json.encode(line) for line in _LINES))
    run = evaluate(lambda _query: "In 1805.", data=str(file), out=tmp_path / "run")
    page = run.report(tmp_path / "report").read_text()
    where = re.findall(r"<dt>Where</dt><dd>([^<]*)", page)
    assert sorted(where) == ["one, turn 1, kitchen", "two, turn 1, street"]
    assert "Best retrieved passage" not in page
    assert "Stages cannot be told apart here" in page
