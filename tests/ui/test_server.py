"""What the server gives, and what it does not."""

from __future__ import annotations

import gc
import hashlib
import threading
from pathlib import Path

import httpx
import pytest
from ui_parts import Server, picture, write_run

from mmrag.errors import StoreError
from ui.opened_runs import find_runs, open_runs
from ui.render import render, seconds
from ui.replay.conversation_list import ConversationList, Filter
from ui.server import Thumbnails
from ui.views.lab_view import DownloadCache, LabPicture


def test_pictures_of_opened_runs_and_nothing_else(server: Server, tmp_path: Path) -> None:
    digest = hashlib.sha256(picture(0)).hexdigest()
    answer = httpx.get(f"{server.url}/picture/first/{digest}")
    assert answer.content == picture(0)
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["x-content-type-options"] == "nosniff"
    for path in (
        f"/picture/other/{digest}",
        f"/picture/first/{'0' * 64}",
        "/picture/first/..%2F..%2Frun.sqlite",
        "/picture/..%2Ffirst/run.sqlite",
        "/picture/first/run.sqlite",
        "/thumbnail/first?of=..%2F..%2F..%2Fetc%2Fpasswd",
        "/thumbnail/other?of=x",
        "/gradio_api/file=/etc/passwd",
        "/gradio_api/file=../../etc/passwd",
        "/file=/etc/passwd",
    ):
        assert httpx.get(server.url + path).status_code in (403, 404), path


def test_no_environment_value_reaches_the_page(server: Server, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-value-123")
    page = httpx.get(server.url).text
    assert "sk-secret-value-123" not in page


def test_the_policy_forbids_outside_requests(server: Server) -> None:
    policy = httpx.get(server.url).headers["content-security-policy"]
    assert "default-src 'self'" in policy
    for scheme in ("http:", "https:", "ws:", "wss:"):
        assert scheme not in policy


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200), ("127.0.0.1:{port}", 200), ("[::1]:{port}", 200),
        ("wearables.example:{port}", 200),  # what the operator allowed
        ("evil.example:{port}", 400), ("localhost.evil.example", 400), ("", 400),
        ("www.wearables.example", 400),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/config", "/picture/first/{digest}"])
def test_only_its_own_names_are_answered(server: Server, host: str, status: int, path: str) -> None:
    """Against DNS rebinding: a page elsewhere must not read the runs under its own name."""
    path = path.format(digest=hashlib.sha256(picture(0)).hexdigest())
    host = host.format(port=server.port)
    assert httpx.get(server.url + path, headers={"Host": host}).status_code == status


def test_a_thumbnail_is_made_once_and_its_original_is_not_kept() -> None:
    gone = threading.Event()

    class Watched(bytes):
        """Bytes that tell when nobody holds them any more."""

        def __del__(self) -> None:
            gone.set()

    small = Thumbnails(limit=2)
    original = Watched(picture(1))
    first = small.of(original)
    assert small.of(picture(1)) is first
    del original
    gc.collect()
    assert gone.is_set()
    small.of(picture(2))
    small.of(picture(3))  # the first makes room
    assert small.of(picture(1)) is not first


def test_downloads_of_the_lab_are_bounded_and_go_with_it() -> None:
    packages = DownloadCache(limit=3)
    done = LabPicture(
        spec="clean", before="", after="", size=(1, 1), box=None, box_after=None,
        matrix=(), figures=(), steps=(), record=(), png=b"", sidecar="{}",
        file_name="clean-0-seed-0",
    )  # fmt: skip
    made = [packages.put(done) for _ in range(8)]
    assert [path.exists() for path in made] == [False] * 5 + [True] * 3
    folder = packages.folder
    assert len(list(folder.iterdir())) == 3
    del packages
    gc.collect()
    assert not folder.exists()


def test_a_run_that_is_still_being_written_is_followed(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", 2, finished=False)
    catalogue = open_runs([folder])["run"]
    assert len(catalogue) == 4
    assert not catalogue.finished
    assert catalogue.refresh() is False
    write_run(folder, 3)
    assert catalogue.refresh() is True
    assert len(catalogue) == 6
    assert catalogue.finished


def test_runs_are_found_and_named(tmp_path: Path) -> None:
    one, two = write_run(tmp_path / "a" / "run", 1), write_run(tmp_path / "b" / "run", 1)
    assert list(open_runs([one, two])) == ["run", "run-2"]
    assert find_runs(tmp_path / "a") == [one]
    assert find_runs(tmp_path / "none") == []
    with pytest.raises(StoreError):
        open_runs([tmp_path])


def test_filters(tmp_path: Path) -> None:
    catalogue = open_runs([write_run(tmp_path / "run", 8)])["run"]
    assert isinstance(catalogue, ConversationList)
    assert len(catalogue.find(Filter())) == 16
    assert len(catalogue.find(Filter(outcome="incorrect"))) == 8
    assert len(catalogue.find(Filter(quality="low-light"))) == 4
    assert len(catalogue.find(Filter(stopped=True))) == 8
    assert len(catalogue.find(Filter(domain="book", kind="clean"))) == 2
    for how, many in (("yes", 16), ("lost low-light@3", 16), ("won low-light@3", 0), ("lost a", 0)):
        assert len(catalogue.find(Filter(keys=catalogue.flipped(how)))) == many
    assert catalogue.find(Filter(text="OF PICTURE 3?"))[0].session_id == "talk-0003"


def test_foreign_text_is_escaped_for_gradio_too() -> None:
    shown = render("message.html.j2", title="", words="<b>{{x}} ${y} @children</b>")
    assert "<b>" not in shown
    assert not set("{}$@") & set(shown)


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0.0 ms"), (0.0042, "4.2 ms"), (0.05, "50 ms"), (0.0996, "0.10 s"), (12.4, "12 s")],
)
def test_durations(value: float, words: str) -> None:
    assert seconds(value) == words
