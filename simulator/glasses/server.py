"""The pair of glasses over HTTP and WebSocket; docs/glasses.md and openapi.yaml say how.

It runs in the event loop of the run, from `warm` to `end`. Every request is bounded: its bytes, the
messages of a socket in a second, the connections in all.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mmrag.errors import MmragError, ServiceError, Unavailable, UsageError
from mmrag.files.images import LazyImage, jpeg
from mmrag.local_server import AllowedHostsOnly, SameOriginOnly
from simulator.ears.speech_pipeline import SpeechPipeline
from simulator.glasses.simulated_glasses import (
    MOST_WORDS,
    AppReply,
    SimulatedGlasses,
    Stale,
    parse_app_reply,
)

if TYPE_CHECKING:
    import socket

MOST_BYTES = 256 << 10
"""Of a request's body and of a message."""
MOST_SOUND = 8 << 20
"""Of a reply in sound: a minute of 16 bits at 48 kHz, and then some."""
MOST_MESSAGES = 500
"""Of one socket in a second; who sends more is shown out."""
MOST_REFUSED = 10
"""Of one socket one after another: what is refused is answered, and nobody may have to read it."""
MOST_CONNECTIONS = 64
LONGEST_WAIT = 25.0
"""Seconds that a request for the next words is kept waiting, and that a reply may take to come."""

PROTOCOL = Path(__file__).parent / "openapi.yaml"


class GlassesServer(SimulatedGlasses):
    """A pair of glasses that listens at a socket while a run asks it."""

    def __init__(
        self,
        at: socket.socket,
        host: str,
        token: str = "",
        *,
        ear: SpeechPipeline | Unavailable,
        on_listening: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(ear)
        if host not in ("localhost", "127.0.0.1", "::1") and not token:
            raise UsageError(
                f"--host {host} lets other machines in: give a --token that apps have to know."
            )
        self._at, self._app = at, glasses_app(self, token, (host,))
        self._on_listening = on_listening
        self._server: Any = None
        self._serving: asyncio.Task[None] | None = None

    async def warm(self) -> None:
        """Begin to listen."""
        import uvicorn

        class Quiet(uvicorn.Server):
            @contextlib.contextmanager
            def capture_signals(self) -> Generator[None]:
                yield  # Ctrl-C is the run's

        config = uvicorn.Config(
            self._app, log_level="error", lifespan="off", ws="websockets-sansio",
            ws_max_size=MOST_BYTES, limit_concurrency=MOST_CONNECTIONS, timeout_keep_alive=5,
            timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = Quiet(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._at]))
        self._on_listening()

    async def end(self) -> None:
        """Tell the apps that it is over, and stop."""
        await super().end()
        if self._serving is not None:
            await asyncio.sleep(0.2)  # so that who polls hears it too
            self._server.should_exit = True
            await self._serving


def glasses_app(pair: SimulatedGlasses, token: str = "", hosts: Sequence[str] = ()) -> Any:
    """The protocol as an ASGI application; with a token any host name is answered."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocket, WebSocketDisconnect

    async def state(_: Request) -> JSONResponse:
        return JSONResponse({"protocol": 1, **pair.words})

    async def protocol(_: Request) -> Response:
        return Response(PROTOCOL.read_bytes(), media_type="application/yaml")

    async def words(request: Request) -> Response:
        after = request.query_params.get("after", "")
        until = time.monotonic() + min(_number(request.query_params.get("wait")), LONGEST_WAIT)
        while (now := pair.words)["type"] == "quiet" or now.get("to") == after:
            pair.seen()
            left = until - time.monotonic()
            if left <= 0:
                return Response(status_code=204)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(pair.changed.wait(), min(left, 1.0))
        pair.seen()
        return JSONResponse(now)

    async def frame(_: Request) -> Response:
        image = pair.frame
        if image is None:
            return JSONResponse({"error": "the camera sees nothing now."}, 404)
        data = await asyncio.to_thread(_jpeg, image)
        return Response(data, media_type="image/jpeg", headers={"etag": f'"{image.sha256}"'})

    async def words_aloud(_: Request) -> Response:
        if (data := pair.sound) is None:
            return JSONResponse({"error": "nothing is being said aloud now."}, 404)
        etag = f'"{hashlib.sha256(data).hexdigest()}"'
        return Response(data, media_type="audio/wav", headers={"etag": etag})

    async def frames(_: Request) -> Response:
        kind = "multipart/x-mixed-replace; boundary=frame"
        return StreamingResponse(_mjpeg(pair), media_type=kind)

    async def reply(request: Request) -> Response:
        app, to = (request.query_params.get(name, "") for name in ("app", "to"))
        first, body = None, bytearray()
        kind = request.headers.get("content-type", "").partition("/")[0].lower()
        most = MOST_SOUND if kind == "audio" else MOST_BYTES
        if kind in ("text", "audio"):
            pair.check(to)
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                async for piece in request.stream():
                    first = time.perf_counter() if first is None else first
                    body += piece
                    if len(body) > most:
                        raise UsageError(f"a reply is larger than {most >> 10} KiB.")
        except TimeoutError as error:
            raise UsageError(f"a reply takes longer than {LONGEST_WAIT:g} s to come.") from error
        pair.seen()
        sound = bytes(body) if kind == "audio" else None
        if kind == "text":
            said = AppReply(to=to, text=body.decode("utf-8", "replace"))
        else:
            said = AppReply(to=to) if sound is not None else parse_app_reply(bytes(body))
        text = await pair.hear(said, app=app, first=first, sound=sound)
        return JSONResponse({"heard": said.to} | ({} if sound is None else {"text": text}))

    async def events(socket: WebSocket) -> None:
        await socket.accept()
        pair.sockets += 1
        wants = socket.query_params.get("frames") == "1"
        tasks = [
            asyncio.create_task(_tell(pair, socket, frames=wants)),
            asyncio.create_task(_listen(pair, socket, socket.query_params.get("app", ""))),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            pair.sockets -= 1
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(RuntimeError, OSError, WebSocketDisconnect):
                await socket.close(1008 if _shown_out(tasks) else 1000)

    def failed(_: Request, error: Exception) -> JSONResponse:
        code = 409 if isinstance(error, Stale) else 503 if isinstance(error, ServiceError) else 400
        return JSONResponse({"error": str(error)}, code)

    def gone(_: Request, _error: Exception) -> Response:
        return Response(status_code=400)  # which nobody is there to read

    outer = (
        [Middleware(_Token, token=token)] if token else [Middleware(AllowedHostsOnly, hosts=hosts)]
    )
    return Starlette(
        routes=[
            Route("/", state),
            Route("/openapi.yaml", protocol),
            Route("/words", words),
            Route("/words.wav", words_aloud),
            Route("/frame.jpg", frame),
            Route("/frames.mjpg", frames),
            Route("/reply", reply, methods=["POST"]),
            WebSocketRoute("/events", events),
        ],
        exception_handlers={MmragError: failed, ClientDisconnect: gone},
        middleware=[*outer, Middleware(SameOriginOnly)],
    )


async def _tell(pair: SimulatedGlasses, socket: Any, *, frames: bool) -> None:
    """Events as they come; the words at hand first, so that who comes back knows where it is."""
    talk, told, shown = None, None, None
    while True:
        changed, now, image = pair.changed, pair.words, pair.frame
        if (now["type"], now.get("to")) != told:
            told = now["type"], now.get("to")
            if now["type"] == "words" and now["conversation"] != talk:
                talk = now["conversation"]
                await _send(socket, {"type": "conversation", "conversation": talk})
            if frames and image is not None and now["frame"] != shown:
                shown = now["frame"]
                await socket.send_bytes(await asyncio.to_thread(_jpeg, image))
            if now["type"] == "words":
                await _send(socket, {"type": "button", "button": "talk"})
            await _send(socket, now)
        if now["type"] == "over":
            return
        await changed.wait()


async def _listen(pair: SimulatedGlasses, socket: Any, app: str) -> None:
    """Replies, whole or in parts: each socket has parts of its own."""
    to, parts, first, length = "", list[str](), 0.0, 0
    count, since, refused = 0, time.monotonic(), 0
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        if time.monotonic() - since > 1:
            count, since = 0, time.monotonic()
        count += 1
        if count > MOST_MESSAGES or refused >= MOST_REFUSED:
            raise _Flood
        try:
            data = message.get("text") or message.get("bytes") or b""
            kind = _kind(data)
            said = parse_app_reply(data)
            if said.to != to:
                to, parts, first, length = said.to, [], time.perf_counter(), 0
            pair.check(to)
            length += len(said.text or "")
            if length > MOST_WORDS:
                raise UsageError(f"a reply has at most {MOST_WORDS:,} characters.")
            if said.text is not None:
                parts.append(said.text)
            refused = 0
            if kind == "reply":
                whole = msgspec.structs.replace(said, text="".join(parts) if parts else None)
                await pair.hear(whole, app=app, first=first)
                await _send(socket, {"type": "heard", "to": to})
                to = ""
        except UsageError as error:
            to, refused = "", refused + 1
            await _send(socket, {"type": "refused", "why": str(error)})


class _Flood(Exception):
    """A socket says more than anybody could hear."""


def _shown_out(tasks: list[asyncio.Task[None]]) -> bool:
    return any(t.done() and not t.cancelled() and isinstance(t.exception(), _Flood) for t in tasks)


def _kind(data: bytes | str) -> str:
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        found = None
    kind = found.get("type") if isinstance(found, dict) else None
    if kind not in ("reply", "part"):
        raise UsageError("a message is {type: reply, to, text}, or part of one: {type: part, …}.")
    return kind


async def _send(socket: Any, event: dict[str, Any]) -> None:
    await socket.send_text(msgspec.json.encode(event).decode())


async def _mjpeg(pair: SimulatedGlasses) -> AsyncGenerator[bytes]:
    """A frame when it changes, and once in a second."""
    pair.seen()
    while not pair.over:
        changed, image = pair.changed, pair.frame
        if image is not None:
            data = await asyncio.to_thread(_jpeg, image)
            yield b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(data)
            yield data + b"\r\n"
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), 1.0)


def _jpeg(image: LazyImage) -> bytes:
    """A camera's picture as it is, any other made a JPEG."""
    return image.data if image.data[:2] == b"\xff\xd8" else jpeg(image.pil(), 95)


def _number(text: str | None) -> float:
    try:
        wait = float(text) if text else LONGEST_WAIT
    except ValueError:
        raise UsageError("wait is a number of seconds.") from None
    return wait if 0 <= wait <= LONGEST_WAIT else LONGEST_WAIT


class _Token:
    """Around an ASGI application: only who knows the token is answered."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or refuse with 401."""
        from starlette.requests import HTTPConnection
        from starlette.responses import JSONResponse

        if scope["type"] in ("http", "websocket"):
            asked = HTTPConnection(scope)
            given = asked.headers.get("authorization", "").removeprefix("Bearer ")
            given = given or asked.query_params.get("token", "")
            if not hmac.compare_digest(given.encode(), self._token):
                if scope["type"] == "websocket":
                    await send({"type": "websocket.close", "code": 1008})
                    return
                why = "give the token that the glasses were started with: Authorization: Bearer …"
                await JSONResponse({"error": why}, 401)(scope, receive, send)
                return
        await self._app(scope, receive, send)
