"""A table of PostgreSQL with vectors of pgvector, asked where it lives."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mmrag.encoders import text_encoders
from mmrag.errors import ServiceError, SpecError, Unavailable
from mmrag.optional_packages import require_package
from mmrag.records import Evidence
from mmrag.search.external import fingerprint_of, parse_where, row_evidence

if TYPE_CHECKING:
    from mmrag.encoders.text import TextEncoder


class PgvectorTable:
    """The nearest rows by cosine. One connection, which only reads, shared by all callers."""

    def __init__(
        self, connection: Any, encoder: TextEncoder, table: str, names: dict[str, str], where: str
    ) -> None:
        from psycopg import sql

        self._connection, self._encoder, self._lock = connection, encoder, threading.Lock()
        weakref.finalize(self, connection.close)
        limits = parse_where(where)
        self._values = list(limits.values())
        place = sql.Identifier(*table.split("."))
        columns = [sql.Identifier(name) for name in names.values()]
        only = [sql.SQL("{}::text = %s").format(sql.Identifier(name)) for name in limits]
        self._about = list(names)[3:]
        self._query = sql.SQL(
            "SELECT {}::text, {}, 1 - ({vector} <=> %s::vector){rest} FROM {table} WHERE {only} "
            "ORDER BY {vector} <=> %s::vector LIMIT %s"
        ).format(
            columns[0], columns[1], vector=columns[2], table=place,
            rest=sql.SQL("").join(sql.SQL(", {}").format(column) for column in columns[3:]),
            only=sql.SQL(" AND ").join(only or [sql.SQL("true")]),
        )  # fmt: skip
        counted = sql.SQL("SELECT count(*) FROM {}").format(place)
        self.fingerprint = fingerprint_of("pgvector", table, where, self._rows(counted, [])[0][0])

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k nearest rows for each query."""
        found: list[tuple[Evidence, ...]] = []
        for vector in self._encoder.encode_queries(list(queries)):
            text = "[" + ",".join(map(str, vector.tolist())) + "]"
            rows = self._rows(self._query, [text, *self._values, text, k])
            found.append(
                tuple(
                    row_evidence(
                        row[0], row[2], row[1], dict(zip(self._about, row[3:], strict=True))
                    )
                    for row in rows
                )
            )
        return found

    def _rows(self, query: Any, values: list[Any]) -> list[Any]:
        import psycopg

        try:
            with self._lock:
                return self._connection.execute(query, values).fetchall()
        except psycopg.Error as error:
            raise ServiceError(f"PostgreSQL refused a search: {_line(error)}") from error


def make(
    *, table: str, host: str = "", port: str = "", dbname: str = "", user: str = "",
    id: str = "id", text: str = "text", vector: str = "embedding", title: str = "", url: str = "",
    date: str = "", where: str = "", encoder: str = "minilm", seconds: str = "30",
) -> PgvectorTable:  # fmt: skip
    """table=NAME of host=, dbname=, user= (a password from PGPASSWORD); columns id=, text=,
    vector=, title=, url=, date=; where=(column=value)."""
    require_package("psycopg", "pgvector", "a search of PostgreSQL")
    import psycopg

    if not seconds.isdecimal():
        raise SpecError(f"pgvector: seconds={seconds}: write a whole number.")
    given = {"host": host, "port": port, "dbname": dbname, "user": user}
    options = f"-c default_transaction_read_only=on -c statement_timeout={int(seconds) * 1000}"
    try:
        connection = psycopg.connect(
            **{key: value for key, value in given.items() if value},  # type: ignore[arg-type]
            connect_timeout=int(seconds), autocommit=True, options=options,
        )  # fmt: skip
    except psycopg.Error as error:
        raise Unavailable(f"PostgreSQL cannot be reached: {_line(error)}") from error
    names = {"id": id, "text": text, "vector": vector, "title": title, "url": url, "date": date}
    named = {key: name for key, name in names.items() if name}
    return PgvectorTable(connection, text_encoders.create(encoder), table, named, where)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
