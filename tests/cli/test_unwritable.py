"""Where nobody can write, a command says so in one line that names the place."""

from __future__ import annotations

from pathlib import Path

from called_command import mmrag
from small_runs import picture


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "afile").write_text("")
    (tmp_path / "a.jpg").write_bytes(picture())
    out = tmp_path / "afile" / "out"
    done = mmrag(
        "lab", "degrade", str(tmp_path / "a.jpg"), str(out), "--spec", "low-light@3", code=1
    )
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("error"))
    assert line.startswith(f"error: {out}")
    assert "Choose a place you may write to" in line
