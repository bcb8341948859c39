"""What goes wrong with a model of this process ends nobody's turn but the one it belongs to."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest
from small_runs import Equality, make_session
from test_local_models import make_tiny

from mmrag.agents.tool_user import ToolUser
from mmrag.errors import ServiceError, SpecError, Unavailable
from mmrag.models import local
from mmrag.models.local import LocalModel, is_out_of_memory
from mmrag.models.model_thread_queue import ModelThreadQueue, QueuedRequest
from mmrag.protocols import Completion, GenerateOptions, Message
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

SECONDS = 10.0
"""After which something hangs."""


class Panic(BaseException):
    """As a library written in Rust raises it: not an Exception."""


class OutOfMemoryError(RuntimeError):
    """As torch names it."""


def together(model, *texts):
    async def all_of_them():
        asked = [model.generate([Message(role="user", text=text)]) for text in texts]
        return await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), SECONDS)

    return asyncio.run(all_of_them())


def said(results):
    return [r.text if isinstance(r, Completion) else f"{r}" for r in results]


@pytest.fixture
def echo(monkeypatch):
    """A model that repeats what it is told; `broken` may raise. Gives the sizes of its batches."""
    sizes = []

    def make(broken=lambda texts: None, **options):
        def run(_model, group):
            texts = [request.messages[0].text for request in group]
            sizes.append(len(texts))
            broken(texts)
            return [Completion(text=text) for text in texts]

        monkeypatch.setattr(LocalModel, "_run", run)
        monkeypatch.setattr(local, "_GATHER", 0.2)
        return LocalModel(name="m", **options), sizes

    return make


def raises_at(error, *bad):
    def broken(texts):
        if set(bad) & set(texts):
            raise error

    return broken


@pytest.fixture
def loads(monkeypatch):
    """How often a model was loaded; `loads.error` is what comes of it."""

    def load(*_spec):
        loads.append(threading.current_thread().name)
        raise loads.error

    class Loads(list):
        error: BaseException = OSError("no such folder")

    loads = Loads()
    monkeypatch.setattr(local, "_load", load)
    return loads


@pytest.mark.parametrize("kind", [OSError, RuntimeError, ImportError, OutOfMemoryError, Panic])
def test_what_cannot_be_loaded_is_told_while_warming_and_not_tried_again(loads, kind):
    loads.error = kind("the header is too large: out of memory")
    model = LocalModel(name="m")
    with pytest.raises(Unavailable, match=r"'m' cannot be loaded \(.*header.*`hf download m`"):
        asyncio.run(model.warm())
    failed = together(model, "a", "b") + together(model, "c")
    assert all(isinstance(f, Unavailable) and "hf download" in str(f) for f in failed)
    assert (len(loads), model.batch) == (1, 16)


def test_a_damaged_file_of_weights_is_told_with_the_cure(tmp_path):
    make_tiny("llava", tmp_path)
    [weights] = tmp_path.glob("*.safetensors")
    weights.write_bytes(b"\xff" * 100)
    with pytest.raises(Unavailable, match=r"cannot be loaded \(.*--force-download"):
        asyncio.run(LocalModel(name=str(tmp_path)).warm())


def test_a_warmed_model_is_loaded_once_and_elsewhere_than_in_the_loop(monkeypatch):
    threads = []

    def load(*_spec):
        threads.append(threading.current_thread())
        return local.LoadedModel(model=None, processor=None, pad=0, ends=frozenset())

    monkeypatch.setattr(local, "_load", load)
    model = LocalModel(name="m")

    async def twice():
        await asyncio.gather(model.warm(), model.warm())

    asyncio.run(twice())
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()
    together(model, "a")  # fails, as there is no network; it is not loaded for that
    assert len(threads) == 1


def test_a_run_whose_weights_are_not_there_asks_nothing(loads, tmp_path):
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", "equality")
        work = iter(list(enumerate([make_session(0)])))
        agent = ToolUser(LocalModel(name="m"), ())
        with pytest.raises(Unavailable, match="hf download"):
            asyncio.run(run_sessions(work, agent, Equality(), store, Plan()))
    with RunReader(tmp_path / "run") as run:
        assert not list(run.results())
    assert len(loads) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"batch": 0}, "local: batch=0: write a whole number from 1"),
        ({"batch": "-1"}, "local: batch=-1: write a whole number from 1"),
        ({"batch": "abc"}, "local: batch=abc: write a whole number from 1"),
        ({"batch": "²"}, "local: batch=²: write a whole number from 1"),
        ({"side": "big"}, "local: side=big: write a whole number from 1"),
        ({"max_tokens": "-1"}, "local: max_tokens=-1: write a whole number from 0"),
        ({"dtype": "bf16"}, "local: dtype=bf16 is not auto, float32, bfloat16 or float16"),
        ({"dtype": "nn"}, "local: dtype=nn is not"),
    ],
)
def test_options_that_cannot_be_are_refused_at_once(wrong, says):
    with pytest.raises(SpecError, match=says):
        LocalModel(name="m", **wrong)


@pytest.mark.parametrize("error", [ValueError("one image too many"), Panic("index out of bounds")])
def test_a_request_that_fails_a_batch_fails_alone(echo, error):
    model, sizes = echo(raises_at(error, "bad"))
    first, bad, last = together(model, "first", "bad", "last")
    assert (first.text, last.text) == ("first", "last")
    assert isinstance(bad, ServiceError)
    assert str(bad).startswith(f"local model 'm': {type(error).__name__}: ")
    assert sizes == [3, 1, 1, 1]
    assert said(together(model, "next")) == ["next"]


@pytest.mark.parametrize(
    "error",
    [
        OutOfMemoryError("CUDA out of memory."),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 4 bytes."),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 4 bytes."),
        MemoryError(),
    ],
)  # fmt: skip
def test_too_little_memory_halves_the_batch(echo, error):
    assert is_out_of_memory(error)

    def broken(texts):
        if len(texts) > 2:
            raise error

    model, sizes = echo(broken, batch=8)
    texts = list("abcdef")
    assert said(together(model, *texts)) == texts
    assert (sizes, model.batch) == ([6, 3, 1, 1, 1, 1, 1, 1], 1)


def test_one_request_that_is_too_large_for_memory_lowers_nobody_s_batch(echo):
    model, sizes = echo(raises_at(MemoryError(), "huge"), batch=8)
    [huge] = together(model, "huge")
    assert isinstance(huge, ServiceError)
    assert (sizes, model.batch) == ([1], 8)


def test_an_answer_that_nobody_waits_for_any_more_harms_nobody():
    gone, there = Future(), Future()
    gone.cancel()
    for future in (gone, there):
        request = QueuedRequest(messages=(), options=GenerateOptions(), future=future)
        request.settle(Completion(text="x"))
        request.settle(ServiceError("too late"))
    assert there.result().text == "x"


@pytest.mark.parametrize("error", [Panic("poisoned"), SystemExit(1), KeyboardInterrupt()])
def test_a_thread_that_serves_outlives_whatever_is_raised_in_it(error):
    """All that it held fails; those that come later are answered."""
    calls = []

    def serve(first):
        calls.append(first)
        if len(calls) == 1:
            assert waiting.more(SECONDS)
            raise error
        first.settle(Completion(text="fine"))

    waiting = ModelThreadQueue(serve)

    async def asked(number):
        return await asyncio.wait_for(
            asyncio.gather(
                *(waiting.completion([], GenerateOptions(), 0) for _ in range(number)),
                return_exceptions=True,
            ),
            SECONDS,
        )

    failed = asyncio.run(asked(2))
    assert all(isinstance(f, ServiceError) and type(error).__name__ in str(f) for f in failed)
    assert said(asyncio.run(asked(1))) == ["fine"]
