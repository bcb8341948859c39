"""What machines share is on a cluster one command, which starts one where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from called_command import mmrag
from cluster_parts import Workplace
from measuring_parts import rows_of, write_run

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def test_on_a_cluster_it_is_one_command(tmp_path: Path) -> None:
    one, many = (write_run(tmp_path / name, sessions=9) for name in ("one", "many"))
    mmrag("judge", "run", str(one), "--judge", "exact")
    place = Workplace(tmp_path)
    place.run("judge", "run", str(many), "--judge", "exact", "--backend", "ray", "--workers", "2")
    assert rows_of(many) == rows_of(one)
    assert "0 replies judged." in place.said()  # the shards had done all
