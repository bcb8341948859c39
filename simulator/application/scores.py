"""Scores and comparisons: mappings of figures that show themselves as the tables people read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from simulator.message_text import counted, printable_text
from simulator.terminal.rich_text import as_html, as_text

if TYPE_CHECKING:
    import pandas as pd

    from mmrag.metrics.scoring_protocols import TurnScore
    from simulator.run.results.run_scoring import ScoreOptions
    from simulator.store.run_reader import RunReader

_ROWS = {
    "accuracy": "accuracy",
    "missing": "missing",
    "hallucination_rate": "hallucination",
    "truthfulness_score": "truthfulness",
}

_MULTI_TURN = "mean_multi_turn_conversation_score"

NO_JUDGE = "none"
"""What stands in the place of a judge where none was asked."""


class _Figures(Mapping[str, Any]):
    """A mapping that is read, not changed."""

    def __init__(self, figures: dict[str, Any]) -> None:
        self._figures = figures

    def __getitem__(self, key: str) -> Any:
        return self._figures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def as_dict(self) -> dict[str, Any]:
        """All figures as plain values, as `--json` prints them."""
        return self._figures


class Scores(_Figures):
    """Figures of one protocol, and of each condition of a sweep. As a mapping it is what `mmrag
    score --json` prints; shown, it is the tables of `mmrag score`."""

    def __init__(
        self,
        figures: dict[str, Any],
        options: ScoreOptions,
        conditions: dict[str, dict[str, Any]] | None = None,
        condition: str | None = None,
    ) -> None:
        super().__init__(figures)
        self.condition = condition
        """What all turns were asked under; None where that differs or is not known."""
        self.options = options
        """What they were computed with."""
        self.conditions = conditions or {}
        """Figures by condition, without intervals; empty where there is only one."""

    @property
    def truthfulness(self) -> float | None:
        """Correct less incorrect, of all turns as experienced. This and its shares are None where
        nothing was scored, and where verdicts are missing: `bounds` then says what is known."""
        return self._rate("truthfulness_score")

    @property
    def accuracy(self) -> float | None:
        """The share of turns that are right."""
        return self._rate("accuracy")

    @property
    def missing(self) -> float | None:
        """The share of turns without an answer, those after a stop included."""
        return self._rate("missing")

    @property
    def hallucination(self) -> float | None:
        """The share of turns that are wrong."""
        return self._rate("hallucination_rate")

    @property
    def coverage(self) -> float | None:
        """Of the turns that were asked, the share that was scored."""
        return self["all"].get("coverage")

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the most that truthfulness may be, where too many verdicts are missing."""
        found = self["all"].get("bounds")
        return None if found is None else tuple(found["truthfulness_score"])

    @property
    def headline(self) -> str:
        """Truthfulness with its interval, in words."""
        return _cell(self["all"], "truthfulness_score")

    @property
    def basis(self) -> str:
        """On how many conversations and turns they rest, and the coverage."""
        return _footer(self["all"])

    def to_frame(self) -> pd.DataFrame:
        """A row for all together and one for each condition, a column for each figure."""
        import pandas as pd

        from simulator.exchange.run_facts import named_figures

        rows = {"all": self["all"], **self.conditions}
        return pd.DataFrame({name: named_figures(found) for name, found in rows.items()}).T

    def with_figures(self, **more: Any) -> Scores:
        """The same, and some more figures."""
        return Scores({**self._figures, **more}, self.options, self.conditions, self.condition)

    def tables(self) -> list[Any]:
        """As tables for a terminal (rich)."""
        return _tables(self)

    def __repr__(self) -> str:
        return as_text(*self.tables())

    def _repr_html_(self) -> str:
        return as_html(*self.tables())

    def _rate(self, name: str) -> float | None:
        found = self["all"]
        return found[name] if found["total"] else None


class Comparison(_Figures):
    """Paired differences between runs: as a mapping, what `mmrag compare --json` prints."""

    def to_frame(self) -> pd.DataFrame:
        """A row for each run against the baseline and each figure of the headline."""
        import pandas as pd

        from mmrag.metrics.headline import HEADLINE

        return pd.DataFrame(
            {"baseline": one["baseline"], "other": one["other"], "figure": label, **found}
            for one in self["comparisons"]
            for key, label in _ROWS.items()
            for found in [one[HEADLINE][key]]
        )

    def __repr__(self) -> str:
        from simulator.reports.draw.markdown import comparison_markdown

        return comparison_markdown(self._figures)

    def _repr_html_(self) -> str:
        from rich.markdown import Markdown

        return as_html(Markdown(repr(self), hyperlinks=False))


def scores_of(
    run: RunReader,
    options: ScoreOptions,
    turns: list[TurnScore] | None = None,
    *,
    by_condition: bool = True,
) -> Scores:
    """Figures of a run; `turns` are those of `turns_of`, where they were judged anew already."""
    from simulator.run.results.run_scoring import language_note, score_run, scores_by_condition

    conditions: dict[str, dict[str, Any]] = {}
    if by_condition:
        figures, conditions = scores_by_condition(run, options, turns)
    else:
        figures = score_run(run, options, turns)
    if (language := language_note(run)) is not None:
        figures["language"] = language
    asked = run.conditions()
    return Scores(figures, options, conditions, asked[0] if len(asked) == 1 else None)


def _tables(figures: Scores) -> list[Any]:
    """The headline figures as a table, and a line for each condition where there are several."""
    from rich.table import Table
    from rich.text import Text

    from simulator.run.results.error_texts import ErrorTexts
    from simulator.run.stop_policies import StopPolicy

    options, conditions = figures.options, figures.conditions
    condition = figures["options"]["degradation"] or figures.condition
    shown: list[Any] = []
    for view in ("all", "ego"):
        found = figures.get(view)
        if found is None or (view == "ego" and found == figures["all"]):
            continue
        title = f"{options.protocol}, {StopPolicy.parse(options.stop).description}"
        if options.agent_errors != "unscored":
            title += f", agent errors count as {options.agent_errors}"
        if view == "ego":
            title += ", egocentric only"
        if condition is not None:
            title += f", {condition}"
        if options.protocol == "crag":
            shown += [_crag_table(found, title), Text(_crag_footer(found), style="dim")]
            continue
        table = Table(title=title, title_justify="left", min_width=len(title))
        table.add_column("")
        table.add_column("figure", justify="right")
        for key, label in _ROWS.items():
            table.add_row(label, _cell(found, key))
        table.add_row("multi-turn score", _cell(found, _MULTI_TURN))
        shown += [table, Text(_footer(found), style="dim")]
        if "as_answered" in found and any(found[k] != found["as_answered"][k] for k in _ROWS):
            shown.append(Text(_as_answered(found["as_answered"]), style="dim"))
    if figures.get("error_texts"):
        warning = f"warning: {ErrorTexts(**figures['error_texts'])}"
        shown.append(plain_text(warning, style="yellow"))
    if figures.get("language"):
        shown.append(plain_text(figures["language"], style="dim"))
    if figures.get("judge") == NO_JUDGE:
        shown.append(Text("No judge: only exact matches are right.", style="dim"))
    if conditions:
        shown.append(_condition_table(conditions))
    return shown


_CRAG_ROWS = {
    "perfect": "perfect",
    "acceptable": "acceptable",
    "incorrect": "incorrect (hallucination)",
    "missing": "missing",
    "truthfulness": "truthfulness, acceptable ½",
    "automatic": "truthfulness, acceptable 1",
    "printed": "the same, printed false-premise rule",
}


def _crag_table(found: dict[str, Any], title: str) -> Any:
    from rich.table import Table

    table = Table(title=title.partition(",")[0], title_justify="left")
    table.add_column("")
    table.add_column("share", justify="right")
    weighted = found.get("traffic")
    if weighted is not None:
        table.add_column("traffic weighted", justify="right")
    for key, label in _CRAG_ROWS.items():
        if key == "printed" and not found["false_premises"]:
            continue
        cells = [_cell(found, key)]
        if weighted is not None:
            value = weighted.get(key)
            cells.append("" if key == "printed" else "–" if value is None else f"{value:.1%}")
        table.add_row(label, *cells)
    return table


def _crag_footer(found: dict[str, Any]) -> str:
    scored = counted(round(found["total"]), "scored answer")
    words = [scored, f"coverage {found['coverage'] or 0:.1%}"]
    if found["judges"] > 1:
        words.append(f"mean of {found['judges']} judges")
    if found["false_premises"]:
        many = counted(found["false_premises"], "reference")
        words.append(f'{many} "invalid question"')
    return "; ".join(words) + "."


def _condition_table(conditions: dict[str, dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(title="by condition", title_justify="left", box=None, pad_edge=False)
    table.add_column("condition", no_wrap=True)
    for name in ("turns", *_ROWS.values(), "multi-turn"):
        table.add_column(name, justify="right")
    for condition, found in sorted(conditions.items(), key=lambda item: item[0] != "clean"):
        cells = (_cell(found, key) for key in (*_ROWS, _MULTI_TURN))
        table.add_row(plain_text(condition), f"{found['total']:,}", *cells)
    return table


def _cell(found: Mapping[str, Any], key: str) -> str:
    """A figure with its interval, or the bounds that are known of it."""
    low, high = found.get("bounds", {}).get(key, (None, None))
    if low is not None:
        return f"{low:.1%} … {high:.1%}"
    if not found["total"] or found[key] is None:
        return "–"  # nothing was scored: neither right nor wrong
    low, high = found.get("intervals", {}).get(key, (None, None))
    return f"{found[key]:.1%}" + ("" if low is None else f"  [{low:.1%}, {high:.1%}]")


def _as_answered(found: Mapping[str, Any]) -> str:
    """The second view, in a line."""
    turns = counted(found["total"], "turn")
    cells = ", ".join(f"{label} {_cell(found, key)}" for key, label in _ROWS.items())
    return f"As answered, over the {turns} that were asked and scored: {cells}."


def _footer(found: dict[str, Any]) -> str:
    words = [counted(found["total"], "turn")]
    if "sessions" in found:
        words = [
            f"{counted(found['sessions'], 'conversation')}, "
            f"{counted(found['asked'], 'turn')} asked",
            f"{counted(found['total'], 'turn')} in the figures",
            f"coverage {found['coverage']:.1%}",
            f"stopped early {found['early_stop_rate']:.1%}",
            f"{found['successful_turns']:.2f} successful turns each",
        ]
    if found.get("not_asked"):
        several = "was" if found["not_asked"] == 1 else "were"
        turns = counted(found["not_asked"], "turn")
        words.append(f"{turns} after a stop {several} never asked")
    return "; ".join(words) + "."


def plain_text(text: str, style: str = "") -> Any:
    """Words from a data set or a model: no markup, and no command to the terminal."""
    from rich.text import Text

    return Text(printable_text(text), style)
