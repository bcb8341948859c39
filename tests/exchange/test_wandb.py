"""An offline run of Weights & Biases, read back by its own package; skipped where that is not."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from exchange_parts import PACKAGES, write_run

from mmrag.errors import Unavailable
from simulator.exchange.exports import export_run
from simulator.store.run_store import RunReader

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.proof("time")]


def test_without_the_package_the_cure_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with (
        RunReader(write_run(tmp_path / "run")) as run,
        pytest.raises(Unavailable, match=r"pip install 'mmrag\[wandb\]'"),
    ):
        export_run(run, tmp_path / "out", "wandb-offline")
    assert not (tmp_path / "out").exists()


def test_summary_settings_and_a_table_with_pictures(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason=PACKAGES.format("wandb"))
    from wandb.proto import wandb_internal_pb2

    with RunReader(write_run(tmp_path / "run")) as run:
        assert export_run(run, tmp_path / "out", "wandb-offline") == 12
    (file,) = (tmp_path / "out" / "wandb").glob("offline-run-*/*.wandb")
    summary, config = dict[str, str](), dict[str, str]()
    for data in records(file.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        for item in record.summary.update:
            summary[item.key or ".".join(item.nested_key)] = item.value_json
        for item in (*record.run.config.update, *record.config.update):
            config[item.key] = item.value_json
    assert float(summary["conversations"]) == 3
    assert "truthfulness" in summary
    assert config["agent"] == '"grounded:ocr=off"'
    media = list((tmp_path / "out").rglob("media/images/*.jpg"))
    tables = list((tmp_path / "out").rglob("*.table.json"))
    assert len(media) == 2
    assert len(tables) == 1


def records(log: bytes) -> Iterator[bytes]:
    """The records of a `.wandb` file: blocks of 32 KiB as in a log of LevelDB, after its name."""
    assert log[:4] == b":W&B"
    place, parts = 7, b""
    while place + 7 <= len(log):
        left = 32768 - place % 32768
        if left < 7:
            place += left
            continue
        _, length, kind = struct.unpack_from("<IHB", log, place)
        parts += log[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield parts
            parts = b""
