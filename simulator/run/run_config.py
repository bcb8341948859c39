"""What a run is made of, as one record: from flags or a YAML file, saved with the run."""

from __future__ import annotations

import hashlib
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import msgspec

from mmrag.errors import DataError, SpecError, StoreError, UsageError
from mmrag.records import Record
from simulator.faults.fault_kinds import parse_faults as parse_faults
from simulator.run.stop_policies import StopPolicy
from simulator.stages.truth_stage_names import NO_TASK, check_task
from simulator.stages.truth_stage_names import parse_stages as parse_stages

if TYPE_CHECKING:
    from simulator.run.engine import Rules
    from simulator.store.run_reader import RunReader

GLASSES = "object:name=glasses"
"""In the place of an agent's spec: an app at simulated glasses."""

SWEEPS = ("sweep", "all")
"""What takes severities: CRAG-MM's five kinds, or every kind there is."""


def _setting(panel: str, text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text, extra={"panel": panel})


class RunConfig(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that decides what a run's records will be; two equal configs give equal runs.

    Flags, their help, `evaluate`'s keywords and the reference page are all made from this record.
    """

    data: Annotated[str, _setting("ask", "mini, a world, crag-mm:..., or my.jsonl.")] = "mini"
    split: Annotated[
        str, _setting("ask", "multi-turn or single-turn; of CRAG-MM a split of its files.")
    ] = "multi-turn"
    agent: Annotated[str, _setting("answer", "Agent spec, e.g. grounded:ocr=off.")] = "grounded"
    judge: Annotated[str, _setting("run", "Judge spec.")] = "builtin"
    search: Annotated[
        str,
        _setting(
            "answer", "Index folder, chroma:…, http:…, mcp:…, pgvector:…, none, or the data's."
        ),
    ] = "auto"
    gaze: Annotated[
        str, _setting("answer", "on: tell where the wearer looks, if the data knows.")
    ] = "off"
    tools: Annotated[
        str, _setting("answer", "Functions the agent may call: none, world, crag-kg:...")
    ] = "none"
    degrade: Annotated[
        str, _setting("break", "none, mix, sweep, all, or specs such as low-light@3.")
    ] = "none"
    severities: Annotated[tuple[int, ...], _setting("break", "Of a sweep, e.g. 1,3,5.")] = (
        1, 2, 3, 4, 5,
    )  # fmt: skip
    link: Annotated[
        str, _setting("break", "none, or how pictures are sent: radio:text, photo, FILE.yaml.")
    ] = "none"
    faults: Annotated[
        str, _setting("break", "none, all, web, ..., or kinds such as model-busy@3.")
    ] = "none"
    task: Annotated[
        str, _setting("ask", "none, or a single task: grounding, identify, ..., knowledge.")
    ] = NO_TASK
    stages: Annotated[
        str, _setting("break", "whole, all, or stages of truth: pointed,named,...")
    ] = "whole"
    spoken: Annotated[
        str, _setting("break", "none, or questions asked aloud: clean,street@3, babble, ...")
    ] = "none"
    crossed: Annotated[
        bool, _setting("break", "Spoken conditions under each degraded picture as well.")
    ] = False
    voice: Annotated[str, _setting("break", "Who says spoken questions: piper, or a spec.")] = (
        "piper"
    )
    ear: Annotated[str, _setting("break", "Who hears them: whisper, openai:..., a program.")] = (
        "whisper"
    )
    wearer: Annotated[str, _setting("ask", "scripted, or live: a wearer who answers back.")] = (
        "scripted"
    )
    """Or person: somebody who plays such a wearer in the app (`mmrag ui`)."""
    patience: Annotated[
        float, _setting("ask", "Seconds that a live wearer waits for a word, as 5; 0: for ever.")
    ] = 0.0
    """With it what is said depends on how fast the agent is, and no more on its replies alone."""
    stop: Annotated[
        str, _setting("run", "When a wearer leaves: strikes(n), never or patience(p).")
    ] = "strikes(2)"
    after_stop: Annotated[str, _setting("run", "skip, or generate as the public kits do.")] = "skip"
    agent_errors: Annotated[
        str, _setting("run", "Count failures as unscored, missing or incorrect.")
    ] = "unscored"
    seconds: Annotated[float, _setting("answer", "Time limit per turn; 0: none.")] = 60.0
    """The default agent fits in on a slow machine; the challenge's own limit is 10."""
    max_tokens: Annotated[int, _setting("answer", "Limit on replies; 0: none.")] = 75
    """Data that asks for paragraphs, as GaRAGe does, gets none unless something else is said."""
    retries: Annotated[int, _setting("answer", "Ask again after a failure.")] = 0
    reference_history: Annotated[
        bool, _setting("answer", "Show the agent the references as its history.")
    ] = False
    seed: Annotated[int, _setting("run", "Of degradations, faults and stopping.")] = 0
    limit: Annotated[int | None, _setting("ask", "Only the first N sessions.")] = None
    sample_ids: Annotated[tuple[str, ...], _setting("ask", "Only this session.")] = ()
    allow_private_urls: Annotated[
        bool, _setting("ask", "Let picture URLs lead to private addresses.")
    ] = False
    as_kit: Annotated[
        str, _setting("ask", "Read CRAG-MM as a kit does: crag-mm (2026) or kddcup25. Else none.")
    ] = "none"
    pictures: Annotated[
        str, _setting("ask", "Folder of your data's pictures, else beside the file.")
    ] = ""

    def __post_init__(self) -> None:
        from simulator.datasets.papers.kit_conventions import check_kit  # not for `--help`

        StopPolicy.parse(self.stop)
        if self.after_stop not in ("skip", "generate"):
            raise SpecError(f"after_stop is skip or generate, not {self.after_stop!r}.")
        if self.gaze not in ("on", "off"):
            raise SpecError(f"gaze is on or off, not {self.gaze!r}.")
        if self.wearer not in ("scripted", "live", "person"):
            raise SpecError(f"wearer is scripted or live, not {self.wearer!r}.")
        if self.answers_back and (self.after_stop == "generate" or self.reference_history):
            raise SpecError(
                "a live wearer goes on from what was really said, and leaves for good: leave "
                "after_stop=generate and reference_history to scripted ones."
            )
        if not (math.isfinite(self.patience) and self.patience >= 0):
            raise SpecError("patience is a number of seconds; 0 waits for ever.")
        if self.patience and self.wearer != "live":
            raise SpecError("only a live wearer has patience in seconds: add --wearer live.")
        if self.agent_errors not in ("unscored", "missing", "incorrect"):
            raise SpecError(
                f"agent_errors is unscored, missing or incorrect, not {self.agent_errors!r}."
            )
        parse_faults(self.faults)
        check_task(self.task, self.degrade)
        staged = parse_stages(self.stages)[1:]
        if (staged or self.task != NO_TASK) and (self.answers_back or self.degrade == "mix"):
            raise SpecError(
                "stages and tasks are of questions as they are written: leave --stages and --task "
                "to scripted wearers, and --degrade to conditions of their own, not mix."
            )
        if staged and self.task != NO_TASK:
            raise SpecError("a single task has no stages: leave out --stages, or --task.")
        if self.spoken != "none":
            from simulator.ears.spoken_conditions import parse_spoken  # not for `--help`

            parse_spoken(self.spoken)
            if self.wearer == "person" or self.degrade == "mix":
                raise SpecError(
                    "spoken questions are a program's, and compared with typed ones on the same "
                    "picture: leave out wearer=person and degrade=mix."
                )
            if staged:
                raise SpecError("stages are of questions as they are typed: leave out --spoken.")
            from simulator.run.capture_optics import parse_degrade

            if not self.crossed and "clean" not in parse_degrade(self.degrade, self.severities):
                raise SpecError(
                    "spoken questions are asked about clean pictures and compared with typed ones: "
                    "put clean among --degrade, or cross the two with --crossed."
                )
        if self.crossed and self.spoken == "none":
            raise SpecError("crossed is for spoken conditions; name some, as in --spoken street@3.")
        if self.link != "none":
            from simulator.link.device_profiles import read_links  # YAML: not for `--help`

            read_links(self.link)
        check_kit(self.as_kit)
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

    @property
    def not_given(self) -> tuple[str, ...]:
        """By what a world may settle which thing is meant, and this run's assistant cannot know:
        gaze that is not handed over, and, without a wearer who can be asked back, nothing."""
        if self.answers_back:
            return ()
        return ("ambiguous",) if self.gaze == "on" else ("ambiguous", "gaze")

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
        from simulator.datasets.papers.kit_conventions import tells_domain_in_kit
        from simulator.run.engine import Rules

        return Rules(
            seconds=self.seconds,
            max_tokens=self.max_tokens,
            ask_after_stop=self.after_stop == "generate",
            retries=self.retries,
            gaze=self.gaze == "on",
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

    from mmrag.files import bounded_yaml

    try:
        loaded: object = bounded_yaml.read(path) or {}
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not YAML ({' '.join(str(error).split())}).") from error
    if not isinstance(loaded, dict):
        raise DataError(f"{path}: a run's YAML is a mapping such as `agent: grounded`.")
    values = cast("dict[str, Any]", loaded)
    if values.get("degrade") in SWEEPS and overrides.get("degrade", "all") not in SWEEPS:
        values.pop("severities", None)  # they went with the sweep that a flag has replaced
    return make_config({**values, **overrides}, where=f"{path}: ")


def make_config(values: dict[str, Any], *, where: str = "") -> RunConfig:
    """Check plain values into a config."""
    from simulator.datasets import asks_for_long_answers

    if "severities" in values and values.get("degrade") not in SWEEPS:
        raise UsageError(
            f"{where}severities (--severities) are for --degrade sweep and all; other "
            "conditions name theirs, as in --degrade clean,low-light@3."
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


def changed_settings(before: RunConfig, after: RunConfig) -> dict[str, tuple[Any, Any]]:
    """The settings that differ, for messages."""
    old, new = msgspec.structs.asdict(before), msgspec.structs.asdict(after)
    return {key: (old[key], new[key]) for key in old if old[key] != new[key]}


def command_of(config: RunConfig, *more: str) -> str:
    """The command that makes a run of this config; `more` are flags that are no settings."""
    default, words = RunConfig(), ["mmrag", "run"]
    if config.agent == GLASSES:
        default, words = RunConfig(agent=GLASSES, search="none"), ["mmrag", "glasses"]
    for name in RunConfig.__struct_fields__:
        value = getattr(config, name)
        if value == getattr(default, name):
            continue
        flag = "--" + name.replace("_", "-")
        if name == "sample_ids":
            words += [word for one in value for word in ("--sample-id", one)]
        elif isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-"))
        elif isinstance(value, tuple):
            words += [flag, ",".join(map(str, value))]
        else:
            words += [flag, str(value)]
    return shlex.join([*words, *more])
