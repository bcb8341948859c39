"""The client against `transformers serve`: a real server process, with a tiny random model."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from PIL import Image
from test_local_models import make_tiny

from mmrag.errors import ServiceError
from mmrag.files.images import LazyImage
from mmrag.models import models
from mmrag.models.openai import OpenAIModel
from mmrag.protocols import GenerateOptions, Message

pytestmark = pytest.mark.proof("time")

# The cure for the mismatched torchvision must come before transformers' own command line. Its
# decoder of pictures lies in the same library that cannot be loaded: Pillow stands in for it.
SERVE = """
from mmrag.torchvision_fix import ensure_torchvision
ensure_torchvision()
import io, numpy, torch, torchvision.io
from PIL import Image
def decode_image(data, mode=None, **_):
    picture = Image.open(io.BytesIO(data.numpy().tobytes())).convert("RGB")
    return torch.from_numpy(numpy.array(picture)).permute(2, 0, 1)
torchvision.io.decode_image = decode_image
from transformers.cli.transformers import main
main()
"""
TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: "
    "{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content %}"
    "{% if c.type == 'text' %}{{ c.text }}{% else %}<image>{% endif %}"
    "{% endfor %}{% endif %}{% endfor %}"
)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    make_tiny("llava", folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "serve.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, "serve", str(folder), "--device", "cpu",
             "--host", "127.0.0.1", "--port", str(port)],
            stdout=out, stderr=subprocess.STDOUT, env={**os.environ, "HF_HUB_OFFLINE": "1"},
        )  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1):
                    break
            except (OSError, urllib.error.URLError):
                if process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail("transformers serve did not start:\n" + log.read_text()[-2000:])
                time.sleep(0.2)
        yield folder, f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(20)


def asked(url, name, count=1):
    picture = LazyImage.from_pil(Image.new("RGB", (40, 30), "red"))
    message = Message(role="user", text="What is this?", images=(picture,))

    async def run():
        model = OpenAIModel(name=name, base_url=url, retries=1, first_wait=0.01)
        options = GenerateOptions(max_tokens=6, temperature=0.0)
        return await asyncio.gather(*(model.generate([message], options) for _ in range(count)))

    return asyncio.run(run())


def test_a_picture_is_asked_about_and_the_answer_counted(served):
    folder, url = served
    first, second = asked(url, str(folder), 2)
    assert first.text
    assert first.text == second.text
    assert first.usage.input_tokens > 10
    assert 1 <= first.usage.output_tokens <= 6


def test_a_model_says_the_same_in_the_process_and_served(served):
    """So a worker of its own or a server for all of them is no matter of the score."""
    folder, url = served
    picture = LazyImage.from_pil(Image.new("RGB", (40, 30), "red"))
    message = Message(role="user", text="What is this?", images=(picture,))

    async def run():
        model = models.create(f"local:name={folder},device=cpu")
        return await model.generate([message], GenerateOptions(max_tokens=6, temperature=0.0))

    here, there = asyncio.run(run()), asked(url, str(folder))[0]
    assert (here.text, here.usage.output_tokens) == (there.text, there.usage.output_tokens)


def test_a_model_that_is_not_served_is_a_typed_error(served):
    _, url = served
    with pytest.raises(ServiceError):
        asked(url, "no/such-model")
