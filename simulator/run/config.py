"""What a run is made of, as one record: from flags or a YAML file, saved with the run."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from mmrag.errors import DataError, SpecError, StoreError, UsageError
from mmrag.records import Record
from simulator.datasets import asks_for_long_answers
from simulator.datasets.as_kit import check_reader, tells_domain_in_kit
from simulator.faults.spec import faults as parse_faults
from simulator.run.engine import Rules
from simulator.run.stopping import StopPolicy

if TYPE_CHECKING:
    from simulator.store.run_store import RunReader

SWEEP = "sweep"
"""The only `degrade` that takes severities."""


class RunConfig(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that decides what a run's records will be; two equal configs give equal runs."""

    data: str = "mini"
    split: str = "multi-turn"
    """Of a world: multi-turn or single-turn. Of CRAG-MM: a split that its files name; neither is
    needed where there is only one."""
    agent: str = "grounded"
    judge: str = "builtin"
    search: str = "auto"
    """An index folder, `none`, or `auto`: the index that belongs to the data."""
    tools: str = "none"
    """Functions that the agent may call: none, or a box of them, as crag-kg:world=FOLDER."""
    degrade: str = "none"
    """none, mix, sweep, or specs separated by commas."""
    severities: tuple[int, ...] = (1, 2, 3, 4, 5)
    """Of a sweep."""
    faults: str = "none"
    """none, all, parts such as `web`, or kinds such as `model-busy@3`: conditions of their own."""
    wearer: str = "scripted"
    """scripted: the data's questions, one after the other; live: a wearer who answers back; person:
    somebody who plays such a wearer in the app (`mmrag ui`)."""
    stop: str = "strikes(2)"
    after_stop: str = "skip"
    """skip or generate."""
    agent_errors: str = "unscored"
    seconds: float = 10.0
    max_tokens: int = 75
    """0 means no limit, which is what GaRAGe's paragraphs get unless something else is said."""
    retries: int = 0
    reference_history: bool = False
    seed: int = 0
    limit: int | None = None
    sample_ids: tuple[str, ...] = ()
    allow_private_urls: bool = False
    as_kit: str = "none"
    """Read CRAG-MM as a public kit does: none, crag-mm or kddcup25."""
    pictures: str = ""
    """Of data of one's own: the folder of its pictures; else they lie beside it."""

    def __post_init__(self) -> None:
        StopPolicy.parse(self.stop)
        if self.after_stop not in ("skip", "generate"):
            raise SpecError(f"after_stop is skip or generate, not {self.after_stop!r}.")
        if self.wearer not in ("scripted", "live", "person"):
            raise SpecError(f"wearer is scripted or live, not {self.wearer!r}.")
        if self.answers_back and (self.after_stop == "generate" or self.reference_history):
            raise SpecError(
                "a live wearer goes on from what was really said, and leaves for good: leave "
                "after_stop=generate and reference_history to scripted ones."
            )
        if self.agent_errors not in ("unscored", "missing", "incorrect"):
            raise SpecError(
                f"agent_errors is unscored, missing or incorrect, not {self.agent_errors!r}."
            )
        parse_faults(self.faults)
        check_reader(self.as_kit)
        if self.limit is not None and self.limit < 1:
            raise SpecError("limit is the number of sessions to run; give at least 1.")
        if not all(1 <= severity <= 5 for severity in self.severities) or not self.severities:
            raise SpecError("severities lie between 1 and 5.")
        if not math.isfinite(self.seconds):
            raise SpecError("seconds is a number; 0 means no limit.")
        if self.seconds < 0 or self.max_tokens < 0 or self.retries < 0:
            raise SpecError("seconds, max_tokens and retries cannot be negative.")

    @property
    def answers_back(self) -> bool:
        """Whether what is said next depends on the replies."""
        return self.wearer != "scripted"

    def refuse_person(self) -> None:
        """Refuse to hold by a program what a person holds."""
        if self.wearer == "person":
            raise UsageError(
                "a person plays the wearer in the app: `mmrag ui`, then Live, then Play a wearer. "
                "Without one, take --wearer live."
            )

    @property
    def rules(self) -> Rules:
        """The part that the engine takes."""
        return Rules(
            seconds=self.seconds,
            max_tokens=self.max_tokens,
            ask_after_stop=self.after_stop == "generate",
            retries=self.retries,
            tells_domain=tells_domain_in_kit(self.as_kit),
            reference_history=self.reference_history,
            seed=self.seed,
        )

    @property
    def fingerprint(self) -> str:
        """A short hash of the whole config."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()[:12]


def load_config(path: Path, **overrides: Any) -> RunConfig:
    """Read a YAML file; flags given on the command line (`overrides`) win over it."""
    import yaml

    from mmrag import bounded_yaml

    try:
        loaded: object = bounded_yaml.read(path) or {}
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not YAML ({' '.join(str(error).split())}).") from error
    if not isinstance(loaded, dict):
        raise DataError(f"{path}: a run's YAML is a mapping such as `agent: grounded`.")
    values = cast("dict[str, Any]", loaded)
    if values.get("degrade") == SWEEP and overrides.get("degrade", SWEEP) != SWEEP:
        values.pop("severities", None)  # they went with the sweep that a flag has replaced
    return make_config({**values, **overrides}, where=f"{path}: ")


def make_config(values: dict[str, Any], *, where: str = "") -> RunConfig:
    """Check plain values into a config."""
    if "severities" in values and values.get("degrade") != SWEEP:
        raise UsageError(
            f"{where}severities (--severities) are for --degrade sweep; other conditions name "
            "theirs, as in --degrade clean,low-light@3."
        )
    if "max_tokens" not in values and asks_for_long_answers(str(values.get("data", ""))):
        values = {**values, "max_tokens": 0}
    try:
        return msgspec.convert(values, RunConfig)
    except SpecError as error:
        raise SpecError(f"{where}{error}") from error
    except msgspec.ValidationError as error:
        known = ", ".join(RunConfig.__struct_fields__)
        raise SpecError(f"{where}{error}. Known settings: {known}.") from error


def read_config(run: RunReader) -> RunConfig:
    """The config that a run was made with."""
    found = run.meta("config")
    if found is None and run.meta("answers"):
        name = run.meta("imported")
        raise StoreError(
            f"{run.folder}: these are answers that were imported from {name}; no agent of ours "
            "gave them, and there is nothing to ask again."
            if name
            else f"{run.folder}: the import was cut off. Import the file again: mmrag import FILE "
            f"--out {run.folder}"
        )
    if found is None:
        raise StoreError(
            f"{run.folder}: the run has no config; it was never started. Run it again."
        )
    return msgspec.convert(found, RunConfig)


def changes(before: RunConfig, after: RunConfig) -> dict[str, tuple[Any, Any]]:
    """The settings that differ, for messages."""
    old, new = msgspec.structs.asdict(before), msgspec.structs.asdict(after)
    return {key: (old[key], new[key]) for key in old if old[key] != new[key]}
