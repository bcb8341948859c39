"""The grounded agent: picture → question → evidence → answer → is it worth saying?

Work that blocks (reading, searching, encoding) runs in a thread, so that many conversations go on
at once; models are awaited.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from functools import partial

import msgspec

from mmrag.agent_hooks import built_in_capacity, warm
from mmrag.agents.grounded.abstain import Calibration, read_calibration
from mmrag.agents.grounded.bounded_cache import BoundedCache
from mmrag.agents.grounded.candidate_answers import CandidateReader, Known
from mmrag.agents.grounded.candidate_weights import find_agreed_answer, weigh_by_talk
from mmrag.agents.grounded.contextual_vectors import BuiltinSentenceEncoder, ContextualEncoder
from mmrag.agents.grounded.evidence_lines import title_with_words
from mmrag.agents.grounded.grounded_parts import SWITCHES, Parts
from mmrag.agents.grounded.look_requests import REQUEST, split_repeated_query, wants_look
from mmrag.agents.grounded.ocr import RapidOcr, TextRecogniser
from mmrag.agents.grounded.passage_text import capital_runs
from mmrag.agents.grounded.picture_analysis import PictureAnalyser
from mmrag.agents.grounded.planner import POINTS, Planner, plan_as_lookup
from mmrag.agents.grounded.program_runner import BuiltinReader
from mmrag.agents.grounded.question_plan import QuestionPlan, last_named_thing
from mmrag.agents.grounded.scene_records import Finding, Scene, named_scene
from mmrag.agents.grounded.turn_evidence import TurnEvidence
from mmrag.agents.grounded.wearer_hints import silent_turns, split_introductions, thing_noun
from mmrag.agents.prompt_templates import ask_model
from mmrag.agents.reply_format import ABSTAIN, clean_text, is_refusal, make_reply
from mmrag.agents.trace import Trace
from mmrag.cache import Cache, CachedWebSearch
from mmrag.errors import SpecError
from mmrag.protocols import GenerateOptions, Model, Resources, WebSearch
from mmrag.records import Evidence, Query, Reply, Usage
from mmrag.registry import parse_whole_number
from mmrag.turn_clock import forget_first_word

_MODEL_EVIDENCE = 12
_NAMED_WITHIN = 6
"""Questions in which a name is looked for: a conversation's."""
_PASSAGE = 1500

_KEPT = 4096
"""Findings about candidates that are remembered: some hundred conversations' worth."""

_WEB_BYTES = 64 * 1024 * 1024
"""Web results that are remembered where a run does not share them anyway: a thousand queries'."""


class GroundedAgent:
    """Thirteen parts in a row (docs/agents.md); `Parts` says which are there."""

    def __init__(
        self,
        resources: Resources,
        parts: Parts,
        *,
        models: Mapping[str, Model] | None = None,
        evidence: int = _MODEL_EVIDENCE,
        calibration: Calibration | None = None,
        ocr: TextRecogniser | None = None,
        meaning: ContextualEncoder | None = None,
    ) -> None:
        self._resources = resources
        self._parts = parts
        self._models = models or {}
        """Of the planner, the reader and the verifier those that are somebody's model."""
        self._evidence = evidence
        self._calibration = calibration or read_calibration()
        self._web = _remembered(resources.web_search)
        self._known: Known = BoundedCache(_KEPT)
        self._analyser = PictureAnalyser(resources, parts, ocr)
        self._ocr = ocr
        self._meaning = meaning or BuiltinSentenceEncoder()
        self._planner = Planner(self._meaning)
        self._reader = BuiltinReader(self._meaning)
        self.capacity = built_in_capacity(model=bool(self._models))
        """Looking and reading are work for a core."""

    async def warm(self) -> None:
        """Load the models: OCR, the sentence encoder, and a language model of this process."""
        await asyncio.to_thread(self._load)
        for model in self._models.values():
            await warm(model)

    def _load(self) -> None:
        from PIL import Image

        if self._ocr is not None:
            self._ocr.read(Image.new("RGB", (64, 64), "white"))
        self._meaning.encode(["a"])

    async def answer(self, query: Query) -> Reply:
        """Answer one turn."""
        trace = Trace()
        heard = split_repeated_query(query)
        query, names = split_introductions(heard.query)
        scene = await asyncio.to_thread(self._look, query, trace)
        if names:
            scene = named_scene(scene, names)
        plan, before, usage = await self._plan(query, scene, trace)
        if scene.main is None:
            named = last_named_thing(before)
            if not named and "it" in plan.things and len(plan.names) < 2:
                named = await asyncio.to_thread(self._find_named, query)
            scene = named_scene(scene, [named]) if named else scene
        finding, evidence = await asyncio.to_thread(self._read, plan, before, scene, query, trace)
        if reader := self._models.get("reader"):
            finding, more = await self._read_by_model(reader, query, plan, scene, evidence, trace)
            usage += more
        p, more = await self._verify(plan, finding, evidence, trace)
        forget_first_word()  # of a draft, which nobody has heard
        silent = silent_turns(query.history) if self._parts.on("multiturn") else 0
        bar = self._calibration.bar(silent)
        if self._parts.on("ask") and wants_look(heard, finding, scene, self._calibration, bar):
            with trace.step("asking") as step:
                step.info |= {"ask": "look", "p": round(p, 4), "threshold": round(bar, 4)}
            return Reply(text=REQUEST, abstained=True, ask="look", trace=trace.steps, usage=usage)
        return self._decide(bar, finding, p, trace, usage + more)

    def _find_named(self, query: Query) -> str:
        """The last name that the wearer said of which some page's title has the words."""
        texts = [query.text, *(one.query for one in query.history[::-1])][:_NAMED_WITHIN]
        names = [n for text in texts if not POINTS.search(text) for n in capital_runs(text)]
        if self._web is None or not self._parts.on("web") or not names:
            return ""
        found = zip(names, self._web.search_text(names, _MODEL_EVIDENCE), strict=True)
        return next((name for name, pages in found if title_with_words(name, pages)), "")

    def _look(self, query: Query, trace: Trace) -> Scene:
        """The picture at hand, or an earlier one that showed the thing better."""
        kind = thing_noun(query)
        scene = self._analyser.look(query, trace, kind)
        for image in query.earlier:
            before = self._analyser.look(msgspec.structs.replace(query, image=image), trace, kind)
            if _sure(before) > _sure(scene):
                scene = before
        return scene

    async def _plan(
        self, query: Query, scene: Scene, trace: Trace
    ) -> tuple[QuestionPlan, list[QuestionPlan], Usage]:
        """The question taken apart, and those before it."""
        usage, text = Usage(), query.text
        before: list[QuestionPlan] = []
        planner = self._models.get("planner")
        with trace.step("planner", by="model" if planner else self._parts["planner"]) as step:
            if not self._parts.on("planner"):
                plan = plan_as_lookup(text, query.history)
            else:
                if planner:
                    done = await ask_model(
                        planner, "planner", GenerateOptions(max_tokens=80), query.images,
                        query=query.text, history=query.history,
                        entity=scene.main.name if scene.main else "",
                    )  # fmt: skip
                    usage = done.usage
                    text = clean_text(done.text)[:500] or query.text
                before = self._planner.talk(query.history)
                plan = self._planner.plan(text, query.history)
            step.info |= {"question": plan.question, "program": plan.program, "p": plan.sure}
        return plan, before, usage

    def _read(
        self,
        plan: QuestionPlan,
        before: list[QuestionPlan],
        scene: Scene,
        query: Query,
        trace: Trace,
    ) -> tuple[Finding | None, TurnEvidence]:
        with trace.step("reader") as step:
            now = query.query_time if self._parts.on("freshness") else None
            candidates = CandidateReader(
                self._reader,
                partial(self._gather, scene),
                self._known,
                picture=query.scope,
                now=now,
            )
            if self._parts.on("candidates") and self._parts.on("entity"):
                plans = [*before, plan] if self._parts.on("planner") else []
                scene = weigh_by_talk(scene, plans, candidates.holds, candidates.answers)
                finding, said = find_agreed_answer(scene, plan, partial(candidates.read, plan))
                step.info["candidates"] = said
            else:
                finding = candidates.read(plan, scene)
            gathered = candidates.gathered
            evidence = gathered[0]
            step.info["entity"] = scene.main.name if scene.main else None
            if "reader" in self._models:  # gather for the model what the plan points at
                seen = [c.name for c in (scene.main, *scene.beside[:1]) if c]
                for name in (*seen, *plan.names, plan.answer):
                    evidence.lines(name, plan.question)
            step.info |= {
                "queries": list(dict.fromkeys(q for e in gathered for q in e.queries)),
                "set aside": list(dict.fromkeys(r for e in gathered for r in e.refused)),
            }
            step.info["answer"] = finding.text if finding else None
            cited = set(finding.citations) if finding else set[str]()
            shown = {e.id: e for one in gathered for e in one.used if e.id in cited}
            step.found(list(shown.values())[:8])
        return finding, evidence

    def _gather(self, scene: Scene) -> TurnEvidence:
        return TurnEvidence(
            scene.evidence,
            self._web if self._parts.on("web") else None,
            trust_orders=not self._parts.on("injection"),
            expand=self._parts.on("queries"),
            strict=self._parts.on("rerank"),
        )

    async def _read_by_model(
        self,
        model: Model,
        query: Query,
        plan: QuestionPlan,
        scene: Scene,
        evidence: TurnEvidence,
        trace: Trace,
    ) -> tuple[Finding | None, Usage]:
        with trace.step("model reader") as step:
            shown = [_shown(e) for e in evidence.used[: self._evidence]]
            done = await ask_model(
                model, "reader", GenerateOptions(max_tokens=75, logprobs=True), query.images,
                query=query.text, history=query.history, query_time=query.query_time or "",
                entity=scene.main.name if scene.main else "", evidence=shown,
            )  # fmt: skip
            text = clean_text(done.text)
            step.info |= {"model": done.model, "answer": text[:300]}
        if not text or is_refusal(text):
            return None, done.usage
        sure = (
            math.exp(sum(p for _, p in done.logprobs) / len(done.logprobs))
            if done.logprobs
            else 0.7
        )
        recognition = scene.main.confidence if scene.main else 0.3
        return (
            Finding(
                text=text,
                operation=plan.operation,
                recognition=recognition,
                agreement=min(1.0, sure),
                support=0.5,
            ),
            done.usage,
        )

    async def _verify(
        self, plan: QuestionPlan, finding: Finding | None, evidence: TurnEvidence, trace: Trace
    ) -> tuple[float, Usage]:
        if finding is None:
            return 0.0, Usage()
        usage = Usage()
        verifier = self._models.get("verifier")
        with trace.step("verifier", by="model" if verifier else self._parts["verifier"]) as step:
            features = finding.features()
            if not self._parts.on("verifier"):
                features = {k: 1.0 if k in _CHECKED else v for k, v in features.items()}
            p = self._calibration.probability(features)
            if verifier:
                done = await ask_model(
                    verifier, "verifier", GenerateOptions(max_tokens=3, logprobs=True),
                    query=plan.question, answer=finding.text,
                    evidence=[_shown(e) for e in evidence.used[: self._evidence]],
                )  # fmt: skip
                usage = done.usage
                if _says_no(done.text):
                    p = min(p, 0.2)
            step.info |= {
                "p": round(p, 4),
                "features": {k: round(v, 4) for k, v in features.items()},
            }
        return p, usage

    def _decide(
        self, bar: float, finding: Finding | None, p: float, trace: Trace, usage: Usage
    ) -> Reply:
        with trace.step("abstention") as step:
            speaks = finding is not None and (p > bar or not self._parts.on("abstain"))
            step.info |= {"threshold": round(bar, 4), "p": round(p, 4), "speaks": speaks}
            step.info["candidate"] = finding.text if finding else None
        return make_reply(
            finding.text if finding is not None and speaks else ABSTAIN,
            trace=trace.steps,
            usage=usage,
            confidence=round(p, 6),
            citations=finding.citations if finding is not None and speaks else (),
        )


def grounded(
    *, resources: Resources, evidence: str = str(_MODEL_EVIDENCE), calibration: str = "",
    **options: str,
) -> GroundedAgent:  # fmt: skip
    """`grounded:ocr=off,reader=(openai:name=…)`: every part by name (see `mmrag agent describe`);
    `evidence` is how many passages a model is shown."""
    models: dict[str, Model] = {}
    for name in ("planner", "reader", "verifier"):
        spec = options.get(name)
        if spec is not None and spec not in SWITCHES[name][0]:
            if spec == "model" or resources.model is None:
                raise SpecError(f"grounded: give the {name} its model, as {name}=(openai:name=M).")
            models[name] = resources.model(options.pop(name))
    parts = Parts.choose(options)
    return GroundedAgent(
        resources,
        parts,
        models=models,
        evidence=parse_whole_number("grounded", "evidence", evidence, most=100),
        calibration=read_calibration(calibration or None),
        ocr=RapidOcr() if parts.on("ocr") else None,
    )


def _remembered(search: WebSearch | None) -> WebSearch | None:
    """The search, asked the same query once: the turns of a conversation repeat them."""
    if search is None or isinstance(search, CachedWebSearch):
        return search
    return CachedWebSearch(search, "", Cache(_WEB_BYTES))


def _sure(scene: Scene) -> float:
    return scene.main.confidence if scene.main else 0.0


def _says_no(text: str) -> bool:
    """Whether a verifier's word is "no"."""
    return clean_text(text).lower().lstrip("\"'*").startswith("no")


def _shown(item: Evidence) -> dict[str, str]:
    text = item.text
    if item.source == "image-kg":
        text = "; ".join(f"{k}: {v}" for k, v in item.attributes.items())
    return {
        "title": clean_text(item.title or item.text)[:200],
        "date": item.date or "",
        "text": clean_text(text)[:_PASSAGE],
    }


_CHECKED = {"match", "margin", "agreement", "support", "freshness"}
