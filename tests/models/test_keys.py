"""A key is in the environment and in the request, and nowhere that a run leaves behind."""

from __future__ import annotations

import logging

from called_command import mmrag

SECRET = "sk-never-to-be-seen-456"


def test_no_key_in_store_export_report_or_log(server, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("SOME_VENDORS_KEY", SECRET)
    for name in ("httpx", "httpcore", "mmrag", "simulator"):
        caplog.set_level(logging.DEBUG, logger=name)
    server.script = ["400", "429 0"]  # both complaints echo the key
    model = f"openai:name=m,base_url={server.url},key_env=SOME_VENDORS_KEY,retries=1"
    place, shown = tmp_path / "run", []
    for command in (
        ["run", "--data", "mini", "--agent", f"llm-only:model=({model})", "--out", place,
         "--search", "none", "--limit", 2],
        ["show", place],
        ["export", place, tmp_path / "turns.jsonl"],
        ["report", place, "--out", tmp_path / "report"],
    ):  # fmt: skip
        shown += mmrag(*command)
    assert any(h.get("authorization") == f"Bearer {SECRET}" for h in server.headers)
    assert SECRET not in "".join(shown)
    assert SECRET not in caplog.text
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert {p.suffix for p in files} >= {".sqlite", ".html", ".jsonl", ".json"}
    assert not [p for p in files if SECRET.encode() in p.read_bytes()]
