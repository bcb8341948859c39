"""Both public kits' agents in their own evaluator and in a run here: the same prompts and scores?

    git clone https://github.com/facebookresearch/CRAG-MM kit-2026
    git clone https://github.com/wintery39/20251R0136COSE47101 kit-2025
    pip download --no-deps cragmm-search-pipeline==0.5.1
    unzip cragmm_search_pipeline-*.whl -d package
    python scripts/bench/kits.py --kit-2026 kit-2026 --kit-2025 kit-2025 --package package

Their code runs unchanged; models are stand-ins outside of it (kit_fakes.py). At home an agent gets
the searches of the published package over a folder in its form, here those of the same folder
imported. What the models are asked is compared character by character, the scores by their kit's
rules without a judge. Opt-in: some minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One agent of one kit."""

    kit: str
    module: str
    name: str
    images: str = "kg"
    """`kg`, or `unlike`: vectors that resemble no picture."""


CASES = [
    Case("2026", "example_agents.random_agent", "RandomAgent"),
    *(Case("2026", "example_agents.closed_model_agents", name)
      for name in ("GPTAgent", "GeminiAgent", "ClaudeAgent", "LlamaClosedAgent")),
    *(Case("2026", "example_agents.open_source_model_agents", name)
      for name in ("LlamaAgent", "PixtralAgent", "QwenAgent", "InternVLAgent", "QueryRewrite")),
    Case("2025", "agents.random_agent", "RandomAgent"),
    Case("2025", "agents.susik_2", "LlamaVisionModel"),
    # joins a dictionary to a text, in both, wherever a picture is found: so none is
    Case("2025", "agents.vanilla_llama_vision_agent_api", "APILlamaVisionModel", "unlike"),
    Case("2025", "agents.rag_agent_jth", "SimpleRAGAgentJTH"),
    Case("2025", "agents.susik", "RAGAgentSusik"),
]  # fmt: skip

PICTURES, PAGES = 200, 250
"""Of the mini world's 600 and 4,722: what is encoded anew takes a minute, not an hour."""

SHARED = ("total", "correct_exact", "correct", "miss", "hallucination", "exact_match", "accuracy",
          "missing", "hallucination_rate", "truthfulness_score",
          "mean_multi_turn_conversation_score")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kit-2026", type=Path, required=True)
    parser.add_argument("--kit-2025", type=Path, required=True)
    parser.add_argument("--package", type=Path, required=True, help="the unpacked search package")
    parser.add_argument("--sessions", type=int, default=24)
    parser.add_argument("--agents", default="", help="only these classes, separated by commas")
    parser.add_argument("--work", type=Path, help="keep what was made here")
    parser.add_argument("--child", nargs=2, metavar=("SIDE", "KIT"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        _child(*chosen.child, chosen)
        return
    with tempfile.TemporaryDirectory() as made:
        work = (chosen.work or Path(made)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        _prepare(work, chosen.sessions)
        for kit in ("2026", "2025"):
            for side in ("home", "here"):
                _run(side, kit, work, chosen)
            for case in _wanted(kit, chosen):
                print(json.dumps(_compared(case, work)), flush=True)


def _wanted(kit: str, chosen: argparse.Namespace) -> list[Case]:
    names = set(filter(None, chosen.agents.split(",")))
    return [c for c in CASES if c.kit == kit and (not names or c.name in names)]


def _run(side: str, kit: str, work: Path, chosen: argparse.Namespace) -> None:
    """One kit's agents on one side, in a process of their own: modules are replaced there."""
    given = [
        "--kit-2026",
        chosen.kit_2026.resolve(),
        "--kit-2025",
        chosen.kit_2025.resolve(),
        "--package",
        chosen.package.resolve(),
        "--work",
        work,
        "--agents",
        chosen.agents,
    ]
    subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), *map(str, given), "--child", side, kit],
        cwd=work, check=True, stdout=subprocess.DEVNULL,
        env=os.environ | {"CRAG_WEBSEARCH_CACHE_DIR": str(work / "pages"),
                          "CRAG_CACHE_DIR": str(work / "cached")},
    )  # fmt: skip


def _compared(case: Case, work: Path) -> dict[str, Any]:
    """What one agent's models were asked on both sides, and what came of it."""
    home, here = (
        json.loads((work / f"{side}-{case.kit}-{case.name}.json").read_text())
        for side in ("home", "here")
    )
    only_home = list((Counter(home["asked"]) - Counter(here["asked"])).elements())
    only_here = list((Counter(here["asked"]) - Counter(home["asked"])).elements())
    differing = sum(
        sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))
        for one, other in itertools.zip_longest(sorted(only_home), sorted(only_here), fillvalue="")
    )
    return {
        "agent": f"{case.kit} {case.name}",
        "turns": len(here["said"]),
        "prompts": len(home["asked"]),
        "characters": sum(map(len, home["asked"])),
        "with_pages": sum("<DOC>" in p or "[Info 1]" in p for p in home["asked"]),
        "with_pictures": sum("Entity attributes:" in p for p in home["asked"]),
        "prompts_only_home": len(only_home),
        "prompts_only_here": len(only_here),
        "differing_characters": differing,
        "replies_differing": sum(here["said"][key] != said for key, said in home["said"].items()),
        "truthfulness": home["score"]["truthfulness_score"],
        "score_difference": max(abs(home["score"][k] - here["score"][k]) for k in SHARED),
    }


# -- what both sides share: conversations, and a folder in the form that was published


def _sessions(work: Path) -> list[Any]:
    """Conversations of the mini world with pictures of the size that the 2026 kit makes them."""
    import msgspec

    from mmrag.files.images import LazyImage
    from simulator.datasets import open_data

    def sized(session: Any) -> Any:
        place = work / "pictures" / f"{session.id}.jpg"
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            session.capture.image.pil().resize((960, 1280)).save(place, quality=95)
        capture = msgspec.structs.replace(session.capture, image=LazyImage.from_path(place))
        return msgspec.structs.replace(session, capture=capture)

    source = open_data("mini", split="multi-turn")
    return [
        sized(session) for session in itertools.islice(source, int((work / "sessions").read_text()))
    ]


def _prepare(work: Path, number: int) -> None:
    """The published folder, once; and its import."""
    import numpy as np

    from mmrag.encoders import image_encoders, text_encoders
    from mmrag.search.index.chroma import IMAGES, WEB, Batch, open_folder
    from mmrag.search.index.exchange import import_index
    from mmrag.search.index.sources import open_source
    from simulator.world.sessions import mini_folder

    (work / "sessions").write_text(str(number))
    if (work / "unlike" / "index").exists():
        return
    source = open_source(str(mini_folder()))
    pictures = list(itertools.islice(source.pictures(), PICTURES))
    encoder = image_encoders.create("builtin:precision=full")
    vectors = encoder.encode([p.image for p in pictures])
    own = [session.capture.image for session in _sessions(work)[: len(pictures) // 2]]
    vectors[: len(own)] = encoder.encode(own)  # so that contexts hold pictures' entities too
    unlike = np.random.default_rng(1).normal(size=vectors.shape).astype(np.float32)
    unlike /= np.linalg.norm(unlike, axis=1, keepdims=True)
    about = [
        {"image_url": p.url, "entities": json.dumps([e["entity_name"] for e in p.entities]),
         "info": json.dumps({e["entity_name"]: e["entity_attributes"] for e in p.entities})}
        for p in pictures
    ]  # fmt: skip
    pages = itertools.islice(source.pages(), PAGES)
    passages = [(p, i, p.text[i * 300 : i * 300 + 300]) for p in pages for i in range(2)]
    passages = [(page, i, text) for page, i, text in passages if text]
    rows = [{"page_name": p.title, "page_snippet": t, "page_url": p.url} for p, _, t in passages]
    meanings = text_encoders.create("minilm:precision=full").encode([t for *_, t in passages])
    for name, made in (("kg", vectors), ("unlike", unlike)):
        with open_folder(work / name / "published", IMAGES, create=True) as database:
            ids = [str(i) for i in range(len(pictures))]
            database.add(Batch(ids, made, about, [None] * len(ids)))
        with open_folder(work / name / "published", WEB, create=True) as database:
            ids = [f"{page.url}_chunk_{i}" for page, i, _ in passages]
            database.add(Batch(ids, meanings, rows, [None] * len(ids)))
        _search_everything(work / name / "published", (IMAGES, WEB))
        import_index(work / name / "published", work / name / "index", image_encoder="builtin",
                     text_encoder="minilm")  # fmt: skip


def _search_everything(folder: Path, names: tuple[str, ...]) -> None:
    """Let the package's graph miss nothing: where it does, ours finds what it should have."""
    import chromadb

    client = chromadb.PersistentClient(path=str(folder))
    for name in names:
        client.get_collection(name).modify(configuration={"hnsw": {"ef_search": 2000}})


def _child(side: str, kit: str, chosen: argparse.Namespace) -> None:
    from kit_fakes import Models, install, install_package

    sys.path.remove(str(Path(__file__).parent))  # it has an agents.py, as the 2025 kit has agents/
    sessions = _sessions(chosen.work)
    models = Models({t.query: t.reference.text for s in sessions for t in s.turns})
    install(models)
    if side == "home":
        install_package(chosen.package)
    sys.path.insert(0, str(chosen.kit_2026 if kit == "2026" else chosen.kit_2025))
    for case in _wanted(kit, chosen):
        models.asked.clear()
        said, score = (_home if side == "home" else _here)(case, sessions, chosen.work)
        place = chosen.work / f"{side}-{kit}-{case.name}.json"
        place.write_text(json.dumps({"asked": models.asked, "said": said, "score": score}))


# -- at home


def _home(case: Case, sessions: list[Any], work: Path) -> tuple[dict[str, str], dict[str, float]]:
    """The kit's own evaluator, without its judge."""
    import importlib

    from cragmm_search.search import UnifiedSearchPipeline  # type: ignore[import-not-found]

    from mmrag.encoders.text import minilm_folder

    published = str(work / case.images / "published")
    search = UnifiedSearchPipeline(
        image_model_name="builtin", image_hf_dataset_id=published,
        text_model_name=str(minilm_folder()), web_hf_dataset_id=published,
    )  # fmt: skip
    evaluation = _evaluation(case.kit)
    made = getattr(importlib.import_module(case.module), case.name)
    data = _Rows([_row(session, case.kit) for session in sessions])
    if case.kit == "2026":
        agent = made(**_options_2026(case))
        evaluator = evaluation.CRAGEvaluator(
            data, agent, image_search=True, web_search=True, search_pipeline=search,
            show_progress=False, dataset_type="multi-turn",
        )  # fmt: skip
    else:
        agent = made(search_pipeline=search)
        evaluator = evaluation.CRAGEvaluator(data, agent, show_progress=False)
    _, scores = evaluator.evaluate_agent()
    said = {f"{t['session_id']}/{t['turn_idx']}": t["agent_response"]
            for t in evaluator.all_turn_data}  # fmt: skip
    return said, scores["all"]


def _evaluation(kit: str) -> Any:
    """The kit's evaluator, with stand-ins for what it asks of the hub."""
    import importlib

    name = "evaluation.evaluator" if kit == "2026" else "local_evaluation"
    if name in sys.modules:
        return sys.modules[name]
    fakes: dict[str, Any] = {"tokenizers": _Uncut}
    if kit == "2025":  # its default is an agent that this fork does not have
        fakes["agents.user_config"] = type("user_config", (), {"UserAgent": None})
    held = {fake: sys.modules.pop(fake, None) for fake in fakes}
    sys.modules |= fakes
    found = importlib.import_module(name)
    for fake, module in held.items():
        del sys.modules[fake]
        if module is not None:
            sys.modules[fake] = module
    return found


def _options_2026(case: Case) -> dict[str, Any]:
    """The kit always names a model; the agents' own defaults are as good here."""
    return {} if case.name == "RandomAgent" else {"is_multi_turn": True}


class _Uncut:
    """`tokenizers`, as far as the evaluators want it: their tokenizer has to be asked for."""

    class Tokenizer:
        @classmethod
        def from_pretrained(cls, _name: str) -> Any:
            return cls()

        def enable_truncation(self, max_length: int) -> None: ...

        def encode_batch(self, texts: list[str]) -> list[Any]:
            return [argparse.Namespace(ids=text) for text in texts]

        def decode(self, ids: str) -> str:
            return ids


class _Rows:
    """A data set of the hub, as far as the kits read one."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows
        domain = argparse.Namespace(feature=argparse.Namespace(names=["other"]))
        names = ("domain", "query_category", "dynamism", "image_quality")
        self.features = {"turns": dict.fromkeys(names, domain)}

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return dict(self._rows[place])


def _row(session: Any, kit: str) -> dict[str, Any]:
    turns = [
        {"interaction_id": f"{session.id}/{t.index}", "query": t.query, "query_category": 0,
         "domain": 0, "dynamism": 0, "image_quality": 0} for t in session.turns
    ]  # fmt: skip
    answers = [
        {"interaction_id": f"{session.id}/{t.index}", "ans_full": t.reference.text}
        for t in session.turns
    ]
    if kit == "2026":
        answers = {key: [a[key] for a in answers] for key in answers[0]}
    return {
        "session_id": session.id, "image": session.capture.image.pil(), "image_url": None,
        "image_quality": 0, "turns": turns, "answers": answers,
    }  # fmt: skip


# -- here


def _here(case: Case, sessions: list[Any], work: Path) -> tuple[dict[str, str], dict[str, float]]:
    """The same agent by its spec, in the engine, scored under its kit's protocol."""
    import asyncio

    from mmrag.agents import agents
    from mmrag.metrics.protocols import score, two_strikes
    from mmrag.protocols import Resources
    from mmrag.search.index.open import open_index
    from simulator.run.engine import Rules
    from simulator.run.trials import hold_all

    index = open_index(work / case.images / "index")
    spec = f"kit:name={case.module}/{case.name}"
    if case.kit == "2026":
        spec += ",rag_context=on"
    resources = Resources(image_search=index.images, web_search=index.web)
    agent = agents.create(spec, resources=resources)
    rules = Rules(ask_after_stop=True, seconds=60)
    trials = asyncio.run(
        hold_all(
            sessions, agent, _ByTheKit(case.kit), stop=two_strikes, rules=rules, concurrency=16
        )
    )
    said = {
        f"{t.session.id}/{r.turn_index}": r.reply.text if r.reply else str(r.error)
        for t in trials for r in t.results
    }  # fmt: skip
    protocol = "crag-mm" if case.kit == "2026" else "kddcup25"
    return said, score(_scores(trials), protocol, resamples=0)["all"]


def _scores(trials: list[Any]) -> list[Any]:
    from mmrag.metrics.protocols import TurnScore
    from mmrag.records import outcome_of

    return [
        TurnScore(
            session_id=t.session.id, turn_index=r.turn_index, outcome=outcome_of(r),
            exact=r.verdict is not None and r.verdict.exact,
        )
        for t in trials for r in t.results
    ]  # fmt: skip


class _ByTheKit:
    """Exact match and missing as a kit has them; whatever is left is wrong."""

    def __init__(self, kit: str) -> None:
        self.id = f"kit-{kit}"
        self._kit = kit

    async def judge(self, item: Any) -> Any:
        from mmrag.records import Outcome, Verdict

        reply, reference = item.prediction, item.references[0]
        exact = reply.strip().lower() == reference.strip().lower()
        outcome = Outcome.PERFECT if exact else Outcome.INCORRECT
        if not exact and self._missing(reply):
            outcome = Outcome.MISSING
        return Verdict(outcome=outcome, judge=self.id, exact=exact)

    def _missing(self, reply: str) -> bool:
        if self._kit == "2025":
            return "i don't know" in reply.lower()
        bare = "".join(c for c in reply.lower() if c in "abcdefghijklmnopqrstuvwxyz0123456789 \n")
        return "i dont know" in bare or "i do not know" in bare


if __name__ == "__main__":
    main()
