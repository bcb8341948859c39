"""Voices and ears from outside: a transcription endpoint, and programs."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress

import httpx
import msgspec

from mmrag.errors import Denied, ServiceError, ServiceTimeout, SpecError, Unavailable
from mmrag.files.http_bodies import ASK_PLAIN, Body, BodyError
from mmrag.models.openai import HOSTED
from mmrag.records import Heard
from mmrag.registry import parse_whole_number
from simulator.ears.sounds import MAX_BYTES, Sound, read

_MOST = 64 << 10
"""Bytes of an answer in words."""


class _Answer(msgspec.Struct):
    text: str
    confidence: float | None = None


class EndpointEar:
    """`openai:name=whisper-1,base_url=URL`: OpenAI's way of asking, `POST /audio/transcriptions`.
    The key is read from the environment when a request is sent."""

    capacity = 8

    def __init__(
        self,
        *,
        name: str,
        base_url: str = HOSTED,
        key_env: str = "OPENAI_API_KEY",
        language: str = "en",
        seconds: str = "60",
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise SpecError(f"openai:base_url={base_url}: write http://… or https://….")
        self._url = f"{base_url.rstrip('/')}/audio/transcriptions"
        self._asked = {
            "model": name, "language": language, "temperature": "0", "response_format": "json",
        }  # fmt: skip
        self._key_env, self._seconds = key_env, parse_whole_number("openai", "seconds", seconds)
        self.id = f"openai:{name}@{base_url}/{language}"

    def hear(self, sound: Sound) -> Heard:
        """Ask the endpoint."""
        headers = dict(ASK_PLAIN)
        if key := os.environ.get(self._key_env, "").strip():
            headers["authorization"] = f"Bearer {key}"
        file = {"file": ("question.wav", sound.wav, "audio/wav")}
        try:
            with httpx.stream(
                "POST", self._url, headers=headers, data=self._asked, files=file,
                timeout=self._seconds,
            ) as response:  # fmt: skip
                body = Body(response.headers, _MOST)
                for part in response.iter_raw():
                    body.add(part)
            data = body.data()
        except BodyError as error:
            raise ServiceError(f"{self._url}: the answer cannot be used: {error}.") from error
        except httpx.TimeoutException as error:
            raise ServiceTimeout(f"{self._url}: no answer within {self._seconds} s.") from error
        except httpx.HTTPError as error:
            raise ServiceError(f"{self._url}: {type(error).__name__}; is it running?") from error
        if response.status_code in (401, 403):
            raise Denied(f"{self._url}: HTTP {response.status_code}; set {self._key_env}.")
        if response.status_code != 200:
            raise ServiceError(f"{self._url}: HTTP {response.status_code}.")
        return _heard(data, self._url)


class ProgramVoice:
    """`command:run=PROGRAM`: the text on its standard input, a sound file on its output."""

    def __init__(self, *, run: str, seconds: str = "60") -> None:
        self._run, self.id = _there(run), f"command:{run}"
        self._seconds = parse_whole_number("command", "seconds", seconds)

    def say(self, text: str) -> Sound:
        """Call the program."""
        data = _called(self._run, text.encode(), self._seconds, MAX_BYTES)
        return read(data, name=f"what {self._run!r} said")


class ProgramEar:
    """`command:run=PROGRAM`: a WAV file on its standard input; the words on its output, bare or
    as `{"text": …, "confidence": …}`."""

    def __init__(self, *, run: str, seconds: str = "60") -> None:
        self._run, self.id = _there(run), f"command:{run}"
        self._seconds = parse_whole_number("command", "seconds", seconds)

    def hear(self, sound: Sound) -> Heard:
        """Call the program."""
        data = _called(self._run, sound.wav, self._seconds, _MOST).strip()
        if not data.startswith(b"{"):
            return Heard(text=data.decode("utf-8", "replace"))
        return _heard(data, repr(self._run))


def _heard(data: bytes, where: str) -> Heard:
    try:
        said = msgspec.json.decode(data, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        shown = data[:120].decode("utf-8", "replace")
        raise ServiceError(f'{where} answered {shown!r}; an answer is {{"text": …}}.') from error
    sure = said.confidence
    return Heard(
        text=said.text.strip(), confidence=sure if sure is not None and 0 <= sure <= 1 else None
    )


def _there(run: str) -> str:
    """A program's command, whose program can be found: a run is not begun without it."""
    try:
        program = shlex.split(run)[0]
    except (ValueError, IndexError) as error:
        raise SpecError(f"command:run={run}: not a command ({error}).") from error
    if shutil.which(program) is None:
        raise SpecError(f"command:run={run}: there is no program {program!r}; give its path.")
    return run


def _called(run: str, given: bytes, seconds: int, most: int) -> bytes:
    """What a program writes, bounded in time and size; it is stopped with all that it started."""
    late = threading.Event()
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        try:
            process = subprocess.Popen(
                shlex.split(run), stdin=file, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise Unavailable(f"the program {run!r} cannot be started ({error}).") from error

    def stop() -> None:
        late.set()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    assert process.stdout is not None
    with process.stdout as out:
        data = out.read(most + 1)
    if len(data) > most:
        stop()
    code = process.wait()
    timer.cancel()
    if len(data) > most:
        raise ServiceError(f"{run!r} wrote more than {most:,} bytes.")
    if late.is_set():
        raise ServiceTimeout(f"{run!r} did not end within {seconds} s.")
    if code:
        raise ServiceError(f"{run!r} ended with code {code}; see its standard error.")
    return data
