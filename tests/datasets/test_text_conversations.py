"""Sessions without a picture: held, judged, kept, reported and shown like all others."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from called_command import mmrag
from own_parts import TURNS, photo, write

from mmrag.files.images import LazyImage
from mmrag.records import Capture, Query, Reference, Reply, Session, Turn, decode_as, encode
from simulator.store.run_reader import RunReader

PASSAGES = [
    {"id": "p1", "text": "The capacity of the Alder Kettle is 1.7 litres.",
     "title": "Alder Kettle", "label": "answers", "url": "https://example.org/1"},
    {"id": "p2", "text": "The capacity of the Birch Kettle is 2 litres.",
     "title": "Birch Kettle", "label": "related", "url": "https://example.org/1"},
]  # fmt: skip
ASKED = [{"query": "What is the capacity of the Alder Kettle?", "references": ["1.7 litres"]}]


def test_records_of_sessions_with_pictures_keep_their_bytes() -> None:
    turn = Turn(index=0, id="a-0", query="What?", reference=Reference(text="a kettle"))
    image = LazyImage.from_bytes(b"...")
    session = Session(id="a", capture=Capture(image=image), turns=(turn,))
    assert encode(session) == (
        b'{"id":"a","capture":{"image":"sha256:' + image.sha256.encode() + b'"},'
        b'"turns":[{"index":0,"id":"a-0","query":"What?","reference":{"text":"a kettle"}}]}'
    )
    text = Session(id="a", turns=(turn,))
    assert decode_as(Session, encode(text)) == text
    assert (text.degradation, text.quality) == ("clean", "no picture")


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """Two sessions: one with a picture, one without and with passages."""
    photo(tmp_path / "a.jpg")
    return write(
        tmp_path,
        {"session_id": "a", "image": "a.jpg", "turns": TURNS, "meta": {"room": "kitchen"}},
        {"session_id": "t", "turns": [*ASKED, *ASKED], "passages": PASSAGES,
         "meta": {"room": "none"}},
    )  # fmt: skip


@pytest.mark.parametrize(
    "agent", ["grounded:ocr=off", "task3:reader=builtin", "llm-only:reader=builtin"]
)
def test_agents_of_our_own_search_exactly_the_passages(
    both: Path, tmp_path: Path, agent: str
) -> None:
    out = tmp_path / "run"
    mmrag("run", "--data", both, "--agent", agent, "--judge", "exact", "--out", out,
                 "--seconds", "60", "--json")  # fmt: skip
    with RunReader(out) as reader:
        assert not {"agent_error", "data_error", "timeout"} & set(reader.turn_counts())
        session = reader.session("t")
        assert session.capture is None
        assert session.turns[0].reference.grounding == {"p1": "answers", "p2": "related"}
        trace = encode(reader.turns("t"))
        assert (b'"p1"' in trace) == (agent != "llm-only:reader=builtin")
        assert b'"p1"' not in encode(reader.turns("a"))


def test_grounded_answers_from_the_passages(both: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    mmrag("run", "--data", both, "--agent", "grounded:ocr=off", "--judge", "exact",
                 "--sample-id", "t", "--out", out, "--seconds", "60", "--json")  # fmt: skip
    with RunReader(out) as reader:
        first = reader.turns("t")[0]
        assert first.reply is not None
        assert "1.7" in first.reply.text
        assert first.reply.citations == ("p1",)


PROGRAM = """
import json, sys
for line in sys.stdin:
    turn = json.loads(line)
    said = {"image": turn["image"] and "there", "passages": turn.get("passages")}
    print(json.dumps({"id": turn["id"], "text": json.dumps(said)}), flush=True)
"""


@pytest.mark.parametrize("more", [[], ["--isolate"]])
def test_programs_are_given_no_picture_and_passages_without_labels(
    both: Path, tmp_path: Path, more: list[str]
) -> None:
    program, out = tmp_path / "agent.py", tmp_path / "run"
    program.write_text(PROGRAM)
    mmrag("run", "--data", both, "--agent", f"command:run={sys.executable} {program}",
                 "--judge", "exact", "--max-tokens", "0", "--out", out, *more)  # fmt: skip
    with RunReader(out) as reader:
        said = [json.loads(reader.turns(name)[0].reply.text) for name in ("a", "t")]  # type: ignore[union-attr]
    assert (said[0], said[1]["image"]) == ({"image": "there", "passages": None}, None)
    assert [p["id"] for p in said[1]["passages"]] == ["p1", "p2"]
    assert "label" not in said[1]["passages"][0]


def test_kit_agents_see_a_grey_picture_and_search_the_passages() -> None:
    from mmrag.agents.external.kits import KitAgent, SearchPipeline
    from mmrag.protocols import Resources
    from mmrag.records import Passage
    from mmrag.search.session_passages import SessionSearch

    pipeline = SearchPipeline(Resources(web_search=SessionSearch(None)))

    class Kit:
        def get_batch_size(self) -> int:
            return 8

        def batch_generate_response(self, queries, images, histories):  # type: ignore[no-untyped-def]
            found = [[hit["page_url"] for hit in pipeline(q, k=3)] for q in queries]
            return [f"{image.size} {urls}" for image, urls in zip(images, found, strict=True)]

    def asked(number: int) -> Query:
        passage = Passage(id="p", text="kettle", url=f"https://example.org/{number}")
        return Query(text="kettle", session_id=str(number), passages=(passage,))

    async def all_at_once() -> list[Reply]:
        agent = KitAgent(Kit())
        return await asyncio.gather(*(agent.answer(asked(number)) for number in range(3)))

    said = [reply.text for reply in asyncio.run(all_at_once())]
    assert said == [f"(336, 336) ['https://example.org/{n}']" for n in range(3)]


def test_two_passages_of_one_page_are_both_found() -> None:
    from mmrag.records import Passage
    from mmrag.search.session_passages import SessionSearch, set_searched_passages

    passages = tuple(Passage(id=p["id"], text=p["text"], url=p["url"]) for p in PASSAGES)

    def found() -> list[str]:
        set_searched_passages(passages)
        (hits,) = SessionSearch(None).search_text(["the Birch Kettle"], 5)
        return [hit.id for hit in hits]

    import contextvars

    assert contextvars.copy_context().run(found) == ["p2", "p1"]


def test_a_run_goes_on_is_judged_again_reported_shown_and_exported(
    both: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    run = ("run", "--data", both, "--agent", "random", "--judge", "exact", "--out", out, "--json",
           "--degrade", "sweep", "--severities", "3")  # fmt: skip
    first = mmrag(*run)
    assert "1 session without a picture: held once" in first.stderr
    with RunReader(out) as reader:
        assert reader.degradations_of("t") == ["clean"]
    for command in (
        run,
        ("judge", "run", out, "--judge", "builtin"),
        ("score", out),
        ("show", out, "t"),
        ("report", out, "--resamples", "20"),
        ("export", out, tmp_path / "turns.parquet"),
    ):
        mmrag(*command)
    page = (out / "report" / "report.html").read_text()
    assert "no picture" in page
    assert "room" in page
    assert "kitchen" in page


def test_the_app_shows_a_text_conversation(both: Path, tmp_path: Path) -> None:
    from ui.replay.conversation_list import ConversationList, Filter
    from ui.replay.conversation_view import conversation

    out = tmp_path / "run"
    mmrag("run", "--data", both, "--agent", "random", "--judge", "exact", "--out", out, "--json")
    with RunReader(out) as reader:
        view = conversation(reader, "run", "t", "clean")
        assert (view.picture, view.has_picture) == ("", False)
        catalogue = ConversationList(reader)
        assert catalogue.choices()["meta"] == ["room: kitchen", "room: none"]
        assert [row.session_id for row in catalogue.find(Filter(meta="room: none"))] == ["t"]
        assert [row.quality for row in catalogue.find_all()] == ["normal", "no picture"]


def test_conversations_held_at_once_search_each_its_own(tmp_path: Path) -> None:
    lines = [
        {"session_id": f"s{n}", "turns": ASKED * 2,
         "passages": [{"id": f"own{n}", "title": "Alder Kettle",
                       "text": f"The capacity of the Alder Kettle is {n} litres."}]}
        for n in range(12)
    ]  # fmt: skip
    out = tmp_path / "run"
    mmrag("run", "--data", write(tmp_path, *lines), "--agent", "task3:reader=builtin",
                 "--judge", "exact", "--out", out, "--seconds", "60", "--concurrency", "8",
                 "--after-stop", "generate")  # fmt: skip
    with RunReader(out) as reader:
        for number in range(12):
            for result in reader.turns(f"s{number}"):
                assert result.reply is not None
                found = [e.id for step in result.reply.trace for e in step.evidence]
                assert found == [f"own{number}"]


def test_the_front_door_takes_data_of_ones_own(both: Path, tmp_path: Path) -> None:
    from simulator import evaluate

    seen: list[tuple[bool, int]] = []

    def agent(query: Query) -> str:
        seen.append((query.image is not None, len(query.passages)))
        return "a kettle"

    evaluate(agent, data=both, judge="exact", out=tmp_path / "run", progress=False)
    assert sorted(seen) == [(False, 2), (False, 2), (True, 0)]


def test_a_sweep_that_holds_text_once_is_finished(both: Path, tmp_path: Path) -> None:
    """The session with a picture twice, the other one once: three conversations, none missing."""
    folder = str(tmp_path / "run")
    mmrag("run", "--data", str(both), "--agent", "random", "--search", "none", "--judge", "exact",
          "--degrade", "clean,low-light@3", "--out", folder)  # fmt: skip
    figures = json.loads(mmrag("score", folder, "--json").stdout)
    assert figures["state"]["conversations"] == figures["state"]["expected_conversations"] == 3
    assert figures["state"]["finished"]
    assert figures["warnings"] == []


def test_an_estimate_counts_text_once(both: Path) -> None:
    """One conversation with a picture under two conditions, and one in text of two turns."""
    dry = ("run", "--data", both, "--agent", "random", "--degrade", "clean,rotated@2", "--dry-run")
    found = json.loads(mmrag(*dry, "--json").stdout)
    assert (found["conversations"], found["turns"], found["without_picture"]) == (3, 4, 1)
    said = mmrag(*dry).stdout.splitlines()[0]
    assert said == ("2 sessions × 2 conditions (1 without a picture: held once) = "
                    "3 conversations, 4 turns at most")  # fmt: skip


def test_the_datas_own_meta_is_columns(both: Path, tmp_path: Path) -> None:
    import pandas as pd

    from simulator import load_run
    from simulator.store.run_table import COLUMNS

    out = tmp_path / "run"
    run = ("run", "--data", both, "--agent", "random", "--judge", "exact", "--out", out)
    mmrag(*run)
    turns = load_run(out).turns()
    own = [name for name in turns.columns if name not in COLUMNS]
    assert "meta.room" in own
    rooms = dict(zip(turns["session_id"], turns["meta.room"], strict=True))
    assert rooms["a"] == "kitchen"
    for name in ("turns.parquet", "turns.jsonl"):
        load_run(out).export(tmp_path / name)
    assert list(pd.read_parquet(tmp_path / "turns.parquet").columns) == list(turns.columns)
    lines = (tmp_path / "turns.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["meta.room"] == "kitchen"
    mmrag("score", tmp_path / "turns.jsonl")  # as lines of another system


def test_the_docs_name_every_column() -> None:
    from simulator.store.run_table import COLUMNS

    told = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    assert [name for name in COLUMNS if f"`{name}`" not in told] == []


def test_a_report_begins_with_the_datas_own_dimensions(tmp_path: Path) -> None:
    """What the data says nothing of is no dimension; of what it says, its own come first."""
    table = tmp_path / "my.csv"
    table.write_text(
        "question,answer,room,domain\nWhat?,a,kitchen,food\nWho?,b,hall,food\nWhy?,c,hall,books\n"
    )
    out = tmp_path / "run"
    run = ("run", "--data", table, "--agent", "random", "--judge", "exact", "--out", out)
    mmrag(*run)
    mmrag("report", out, "--resamples", "20")
    report = json.loads((out / "report" / "report.json").read_text())
    found = list(dict.fromkeys(s["dimension"] for s in report["runs"][0]["slices"]["main"]))
    assert found[0] == "meta:room"
    assert "domain" in found
    silent = {"query_type", "dynamism", "popularity", "text_clue", "needs_image", "needs_history"}
    assert not silent & set(found)


def test_what_to_do_without_references_leads_somewhere(tmp_path: Path) -> None:
    """Asking a judge again was the advice of each command, which judged none and gave it again."""
    (tmp_path / "no.jsonl").write_text('{"turns": [{"query": "Who?"}, {"query": "Why?"}]}\n')
    asked, taken = str(tmp_path / "asked"), str(tmp_path / "taken")
    mmrag("run", "--data", tmp_path / "no.jsonl", "--agent", "random", "--search", "none",
          "--out", asked)  # fmt: skip
    (tmp_path / "said.jsonl").write_text('{"question": "Who?", "answer": "Ada."}\n')
    told = [mmrag("import", tmp_path / "said.jsonl", "--out", taken).stderr]
    for run in (asked, taken):
        told += [mmrag(*words, run).stderr for words in (["score"], ["judge", "run"], ["report"])]
        told.append(mmrag("compare", run, run).stdout)
    for text in told:
        assert "cannot be judged, as the data has no reference" in text
        assert "asks a judge again" not in text
    replies = tmp_path / "replies.jsonl"
    mmrag("export", taken, replies)
    replies.write_text(replies.read_text().replace('"reference":""', '"reference":"Ada"'))
    mmrag("import", replies, "--out", tmp_path / "filled")
    assert "1 reply judged" in mmrag("judge", "run", tmp_path / "filled").stderr
    assert mmrag("score", tmp_path / "filled").stderr == ""
    assert f"mmrag judge run {asked}" in mmrag("judge", asked, code=2).stderr
