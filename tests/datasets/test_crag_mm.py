"""Both published layouts, made small here; pictures by bytes and by URL."""

from __future__ import annotations

import asyncio
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import datasets
import pytest
from crag_mm_rows import DOMAINS, V2, label, v1_row, v2_row, write
from small_runs import ByNumber, interrupted, picture, run_all

from mmrag.errors import DataError, ImageError, SpecError, StoreError, Unavailable
from mmrag.records import Query, Reply, Status
from simulator.datasets.papers.crag_mm import CragMM
from simulator.datasets.picture_fetcher import PictureFetcher, is_public
from simulator.store.run_reader import RunReader

LAYOUTS = ["v1-parquet", "v1-saved", "v2-parquet", "v2-saved"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_both_layouts_read_alike(tmp_path: Path, layout: str) -> None:
    make = v2_row if layout.startswith("v2") else v1_row
    rows = [make("a", data=picture(1)), make("b", data=picture(2))]
    source = CragMM(write(rows, tmp_path / "set", layout))
    assert len(source) == 2
    assert source.fingerprint == CragMM(str(tmp_path / "set")).fingerprint
    first, second = list(source)
    assert (first.id, second.id) == ("a", "b")
    assert [t.query for t in first.turns] == ["what is it?", "and the other one?"]
    assert [t.reference.text for t in first.turns] == ["first", "second"]
    assert [t.domain for t in first.turns] == ["animal", "general object recognition"]
    assert [t.query_type for t in first.turns] == ["comparison", "simple-knowledge"]
    assert [t.dynamism for t in first.turns] == ["fast-changing", "static"]
    assert first.capture.quality == "low-light"
    assert first.capture.is_ego
    assert first.capture.image.data == picture(1)
    assert first.capture.image.pil() is not first.capture.image.pil()  # everybody has a copy


def test_label_names_come_from_the_file(tmp_path: Path) -> None:
    """The same integers mean other domains in another file."""
    turned = datasets.Features(V2)
    turned["turns"] = {**V2["turns"], "domain": datasets.List(label(DOMAINS[::-1]))}
    row = v2_row(data=picture())
    data = datasets.Dataset.from_dict({k: [v] for k, v in row.items()}, features=turned)
    data.save_to_disk(str(tmp_path / "set"))
    (session,) = CragMM(str(tmp_path / "set"))
    assert [t.domain for t in session.turns] == [DOMAINS[4], DOMAINS[0]]


def test_splits_are_chosen_by_name(tmp_path: Path) -> None:
    for split, sid in (("validation", "v"), ("public_test", "p")):
        write([v1_row(sid, data=picture())], tmp_path / "set" / split, "v1-parquet")
    assert [s.id for s in CragMM(str(tmp_path / "set"), split="public_test")] == ["p"]
    with pytest.raises(SpecError, match="validation"):
        CragMM(str(tmp_path / "set"), split="private")


@pytest.mark.parametrize("layout", ["shards", "folders"])
def test_a_misspelt_split_takes_nothing(tmp_path: Path, layout: str) -> None:
    for split, sid in (("validation", "v"), ("public_test", "p")):
        written = write([v1_row(sid, data=picture())], tmp_path / split, "v1-parquet")
        name = f"{split}/0000" if layout == "folders" else f"data/{split}-00000-of-00001"
        target = tmp_path / "set" / f"{name}.parquet"
        target.parent.mkdir(parents=True, exist_ok=True)
        next(Path(written).iterdir()).rename(target)
    folder = str(tmp_path / "set")
    assert [s.id for s in CragMM(folder, split="validation")] == ["v"]
    for wrong in ("validatoin", "multi-turn"):
        with pytest.raises(SpecError, match=r"there is public_test, validation.*--split"):
            CragMM(folder, split=wrong)


def test_the_only_split_is_meant_unless_another_is_named(tmp_path: Path) -> None:
    shards = write([v1_row(data=picture())], tmp_path / "shards", "v1-parquet")
    saved = write([v1_row(data=picture())], tmp_path / "saved", "v1-saved")
    assert len(CragMM(shards, split="multi-turn")) == len(CragMM(saved, split="validation")) == 1
    with pytest.raises(SpecError, match="there is train"):
        CragMM(shards, split="validation")


def test_a_second_row_of_a_session_is_a_session_that_says_so(tmp_path: Path) -> None:
    rows = [v1_row("a", data=picture()), v1_row("b", data=picture())]
    rows += [v1_row("a", data=picture())] * 2
    folder = write(rows, tmp_path / "set", "v1-parquet")
    sessions = list(CragMM(folder))
    assert [s.id for s in sessions[:2]] == ["a", "b"]
    assert len({s.id for s in sessions}) == len(CragMM(folder)) == 4
    for number, session in enumerate(sessions[2:], 2):
        assert session.id.startswith("a (")
        assert len(session.turns) == len(sessions[0].turns)
        with pytest.raises(DataError, match=rf"row {number}: session 'a' stands in .*row 0 alr"):
            session.capture.image.pil()


def spoil(row: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**row, **changes}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"turns": []}, "no turns"),
        ({"turns": [v1_row()["turns"][0]] * 2}, "two turns with one"),
        ({"session_id": ""}, "no session_id"),
    ],
)
def test_broken_rows_name_file_row_and_cure(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    folder = write([v1_row("b", data=picture()), spoil(v1_row(data=picture()), **changes)],
                   tmp_path / "set", "v1-parquet")  # fmt: skip
    good, broken = CragMM(folder)
    assert good.capture.image.data == picture()
    with pytest.raises(DataError, match=rf"train-.*parquet, row 1: .*{words}"):
        _ = broken.capture.image.data


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([], "has no answer"),
        ([v1_row("s002")["answers"][0]], "the turn 's0020' of session 's002' has no answer"),
        (
            [*v1_row("s002")["answers"], {"interaction_id": "zz", "ans_full": "?"}],
            "the answer 'zz' of session 's002' matches no turn",
        ),
    ],
)
def test_a_lacking_or_stray_answer_is_that_sessions_data_error(
    tmp_path: Path, answers: list[dict[str, Any]], words: str
) -> None:
    rows = [v1_row(sid, data=picture(i)) for i, sid in enumerate(("s001", "s002", "s003"))]
    rows[1] = spoil(rows[1], answers=answers)
    folder = write(rows, tmp_path / "set", "v1-parquet")
    agent = ByNumber()
    run_all(tmp_path / "run", CragMM(folder), agent)
    assert {query.session_id for query in agent.seen} == {"s001", "s003"}
    with RunReader(tmp_path / "run") as run:
        broken = run.turns("s002")
        assert [r.status for r in broken] == [Status.DATA_ERROR] * 2
        assert all(words in (r.error or "") and "row 1" in (r.error or "") for r in broken)
        for sid in ("s001", "s003"):
            assert Status.DATA_ERROR not in {r.status for r in run.turns(sid)}


def test_a_nought_is_an_answer_and_an_id(tmp_path: Path) -> None:
    row = v1_row("a", data=picture())
    for part in (*row["turns"], *row["answers"]):
        part["interaction_id"] = int(part["interaction_id"][1:])
    row["answers"] = [{**answer, "ans_full": 0} for answer in row["answers"]]
    (session,) = CragMM(write([{**row, "session_id": 0}], tmp_path / "set", "v1-parquet"))
    assert (session.id, [t.id for t in session.turns]) == ("0", ["0", "1"])
    assert [t.reference.text for t in session.turns] == ["0", "0"]


def test_places_that_are_no_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match="no such file"):
        CragMM(str(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no Parquet or Arrow"):
        CragMM(str(tmp_path / "empty"))
    (tmp_path / "bad.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(DataError, match=r"bad\.parquet"):
        list(CragMM(str(tmp_path / "bad.parquet")))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(Unavailable, match="folder"):
        CragMM("crag-mm-2025/crag-mm-multi-turn-public")


MOVED = {"/moved": "/ok.jpg", "/loop": "/loop", "/to-file": "file:///etc/passwd"}


class Handler(http.server.BaseHTTPRequestHandler):
    requests: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.requests.append(self.path)
        if self.path == "/ok.jpg":
            self.reply(200, picture(5))
        elif self.path in MOVED:
            self.send_response(302)
            self.send_header("Location", MOVED[self.path])
            self.end_headers()
        elif self.path == "/big":
            self.reply(200, b"x" * 200_000)
        elif self.path == "/text":
            self.reply(200, b"this is no picture")
        elif self.path in ("/slow", "/dripping-headers"):
            self.send_response(200)
            if self.path == "/slow":
                self.end_headers()
            else:
                self.flush_headers()
            try:
                for _ in range(100):
                    self.wfile.write(b"x")
                    self.wfile.flush()
                    threading.Event().wait(0.05)
            except OSError:
                pass
        else:
            self.reply(404, b"")

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def fetcher(tmp_path: Path, **more: Any) -> PictureFetcher:
    return PictureFetcher(tmp_path / "cache", allow_private=True, **more)


def test_a_picture_is_fetched_once(tmp_path: Path, server: str) -> None:
    Handler.requests.clear()
    assert fetcher(tmp_path).fetch(f"{server}/ok.jpg") == picture(5)
    assert fetcher(tmp_path).fetch(f"{server}/ok.jpg") == picture(5)
    assert Handler.requests == ["/ok.jpg"]
    assert fetcher(tmp_path).fetch(f"{server}/moved") == picture(5)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/gone", "answered 404"), ("/loop", "redirects"), ("/to-file", "only http"),
        ("/big", "larger than 100,000"), ("/slow", "not complete within"),
        ("/dripping-headers", "not complete within"), ("/text", "not a usable picture")
    ]
)  # fmt: skip
def test_what_is_not_fetched(tmp_path: Path, server: str, path: str, words: str) -> None:
    seconds = 0.4 if "within" in words else 60.0  # whole, slow ones would be no pictures
    with pytest.raises(ImageError, match=words):
        fetcher(tmp_path, max_bytes=100_000, seconds=seconds).fetch(server + path)
    assert not list((tmp_path / "cache").rglob("*")), "nothing broken may be cached"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://example.com/a.jpg", "/etc/passwd", "", "http://",
        "http://127.0.0.1/a.jpg", "http://localhost/a.jpg", "http://[::1]/a.jpg",
        "http://10.0.0.1/a", "http://169.254.169.254/latest/meta-data", "http://0.0.0.0/",
        "http://2130706433/a.jpg", "http://[::ffff:127.0.0.1]/", "http://[::127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::7f00:1]/", "http://[2002:7f00:1::]/",
        "http://[2001:0:7f00:1::]/", "http://[2001:0:808:808::1718:78a4]/",
        "http://[fec0::1]/", "http://[fe80::1]/", "http://[ff02::1]/",
        "http://[2606:4700::5efe:7f00:1]/", "http://224.0.0.1/", "http://239.255.255.250/",
        "http://255.255.255.255/", "http://100.64.0.1/", "http://[::]/",
    ],
)  # fmt: skip
def test_files_and_private_addresses_are_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ImageError, match=r"refused|only http|not a valid URL|cannot be resolved"):
        PictureFetcher(tmp_path / "cache", seconds=1).fetch(url)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822", "2002:5db8:d822::1"]
)
def test_public_addresses_are_public(address: str) -> None:
    """The third is what a network without IPv4 calls the first."""
    assert is_public(address)


def test_an_unwritable_cache_is_told_and_named(tmp_path: Path, server: str) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match=r"cache: fetched pictures cannot be kept.*XDG_CACHE_HOME"):
        fetcher(tmp_path).fetch(f"{server}/ok.jpg")


def test_fetching_works_inside_an_event_loop(tmp_path: Path, server: str) -> None:
    async def inside() -> bytes:
        return fetcher(tmp_path).fetch(f"{server}/ok.jpg")

    assert asyncio.run(inside()) == picture(5)


def test_a_resumed_conversation_keeps_its_picture_when_the_url_is_gone(
    tmp_path: Path, server: str
) -> None:
    class DiesInTheMiddle(ByNumber):
        async def answer(self, query: Query) -> Reply:
            if query.turn_index == 1:
                await interrupted()
            return await super().answer(query)

    folder = write([v2_row("s001", url=f"{server}/ok.jpg")], tmp_path / "set", "v2-parquet")
    with pytest.raises(asyncio.CancelledError):
        run_all(tmp_path / "run", CragMM(folder, fetcher=fetcher(tmp_path)), DiesInTheMiddle())
    offline = PictureFetcher(tmp_path / "empty", allow_private=False)  # refuses that URL
    agent = ByNumber()
    run_all(tmp_path / "run", CragMM(folder, fetcher=offline), agent)
    assert [q.image.data for q in agent.seen] == [picture(5)]
    with RunReader(tmp_path / "run") as run:
        assert Status.DATA_ERROR not in {r.status for r in run.turns("s001")}


def test_a_dead_url_is_that_sessions_data_error(tmp_path: Path, server: str) -> None:
    rows = [
        v2_row("s001", url=f"{server}/ok.jpg"),
        v2_row("s002", url=f"{server}/gone"),
        v2_row("s003", data=picture(3)),
    ]
    folder = write(rows, tmp_path / "set", "v2-parquet")
    source = CragMM(folder, fetcher=fetcher(tmp_path))
    run_all(tmp_path / "run", source, ByNumber())
    with RunReader(tmp_path / "run") as run:
        assert {r.status for r in run.turns("s002")} == {Status.DATA_ERROR}
        assert Status.DATA_ERROR not in {r.status for r in run.turns("s001")}
        assert len(run.turns("s003")) == 2
        assert not run.session("s001").capture.is_ego
        assert run.session("s003").capture.is_ego
