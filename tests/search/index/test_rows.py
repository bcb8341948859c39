"""Rows looked up by number, out of a file of any size."""

from __future__ import annotations

import pyarrow as pa
import pytest

from mmrag.search.index.row_table import RowTable, write_rows

COUNT = 20_000


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> RowTable:
    path = tmp_path_factory.mktemp("rows") / "rows.arrow"
    write_rows(
        path, "web",
        ({"id": f"p{i}", "page_url": f"u{i // 3}", "page_name": "", "page_snippet": "", "date": "",
          "start": i, "end": i + 1, "text": f"{i} " * 200} for i in range(COUNT)),
    )  # fmt: skip
    return RowTable.open(path)


@pytest.mark.parametrize("numbers", [[], [0], [COUNT - 1, 0, 4096, 4095, 4095, 12_000]])
def test_rows_come_in_the_order_asked_for(rows: RowTable, numbers: list[int]) -> None:
    found = rows.get(numbers)
    assert [row["id"] for row in found] == [f"p{n}" for n in numbers]
    assert [row["start"] for row in found] == numbers
    assert rows.values("page_url", numbers) == [f"u{n // 3}" for n in numbers]


def test_a_lookup_takes_no_memory_for_the_rows_that_it_does_not_return(rows: RowTable) -> None:
    pool = pa.default_memory_pool()
    before = pool.max_memory()
    rows.get([1, 5000, 9000, 15_000])  # 20 MB of texts lie between them
    rows.values("page_url", range(0, COUNT, 100))
    assert pool.max_memory() - before < 1 << 20


def test_a_row_that_is_not_there_is_an_error(rows: RowTable) -> None:
    with pytest.raises(IndexError):
        rows.get([COUNT])
