"""Pictures of a world's image KG, for thumbnails beside the hits of a trace."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

LIVE = "@live"
"""Stands for a run where the pictures of the world that Live searches are asked for."""


class KgThumbnails:
    """The KG table of the world that a run was made from, if it is still where it was."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.path = _table(str(config.get("data") or ""))
        self._places: dict[str, tuple[int, int]] | None = None
        self._lock = threading.Lock()

    def picture(self, url: str) -> bytes:
        """The picture that the KG has under this URL. Raises `KeyError` when it has none."""
        import pyarrow.parquet as pq

        if self.path is None:
            raise KeyError(url)
        with self._lock:
            if self._places is None:
                self._places = _places(self.path)
        group, row = self._places[url]
        with pq.ParquetFile(self.path) as file:
            column = file.read_row_group(group, ["image.bytes"]).column("image")
        return column[row].as_py()["bytes"]


def _table(data: str) -> Path | None:
    if not data or data.startswith("crag-mm:"):
        return None
    from simulator.world.sessions import mini_folder

    path = (mini_folder() if data == "mini" else Path(data)) / "kg.parquet"
    return path if path.is_file() else None


def _places(path: Path) -> dict[str, tuple[int, int]]:
    import pyarrow.parquet as pq

    places: dict[str, tuple[int, int]] = {}
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            urls = file.read_row_group(group, ["image_url"]).column("image_url").to_pylist()
            places.update({url: (group, row) for row, url in enumerate(urls)})
    return places
