"""Fetch a picture that a data set names by URL: bounded, cached, and never from inside the network.

A data set is somebody else's text. A URL in it must not make this machine read a local file or
talk to a service behind the firewall, so only http(s) to public addresses is followed, and the
address that was checked is the one that is connected to (a name that resolves differently the
second time gains nothing). Proxies from the environment are ignored for the same reason.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import ImageError
from mmrag.images import MAX_BYTES

if TYPE_CHECKING:
    import httpx

_REDIRECTS = 5


class Fetcher:
    """Fetches by URL into a cache folder. Safe to use from several threads."""

    def __init__(
        self,
        cache: Path | None = None,
        *,
        allow_private: bool = False,
        max_bytes: int = MAX_BYTES,
        seconds: float = 20.0,
    ) -> None:
        self.cache = cache or default_cache()
        self.allow_private = allow_private
        """Let URLs lead to private addresses (tests, intranets). Off unless asked for."""
        self.max_bytes = max_bytes
        self.seconds = seconds

    def fetch(self, url: str) -> bytes:
        """The bytes behind a URL, from the cache where it has them. Raises `ImageError`."""
        place = self.cache / hashlib.sha256(url.encode()).hexdigest()
        if place.is_file():
            return place.read_bytes()
        data = self._download(url)
        _write(place, data)
        return data

    def _download(self, url: str) -> bytes:
        import httpx

        deadline = time.monotonic() + self.seconds
        try:
            with httpx.Client(trust_env=False, follow_redirects=False) as client:
                target = url
                for _ in range(_REDIRECTS + 1):
                    answer = self._get(client, target, deadline)
                    if isinstance(answer, bytes):
                        return answer
                    target = answer
        except httpx.HTTPError as error:
            words = str(error) or type(error).__name__
            raise ImageError(f"{url}: cannot be fetched ({words}).") from error
        except httpx.InvalidURL as error:
            raise ImageError(f"{url}: no valid URL ({error}).") from error
        raise ImageError(f"{url}: more than {_REDIRECTS} redirects.")

    def _get(self, client: httpx.Client, url: str, deadline: float) -> bytes | str:
        """The body, or the URL of a redirect."""
        import httpx

        parsed = httpx.URL(url)
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ImageError(f"{url}: only http and https URLs are fetched.")
        address = self._address(parsed.host, parsed.port or 443, url)
        request = client.build_request(
            "GET",
            parsed.copy_with(host=address),
            headers={"Host": parsed.netloc.decode(), "Accept": "image/*"},
            timeout=max(0.1, deadline - time.monotonic()),
            extensions={"sni_hostname": parsed.host},
        )
        answer = client.send(request, stream=True)
        try:
            if answer.is_redirect:
                return str(parsed.join(answer.headers["location"]))
            if answer.status_code != 200:
                raise ImageError(f"{url}: the server answered {answer.status_code}.")
            return self._body(answer, url, deadline)
        finally:
            answer.close()

    def _body(self, answer: httpx.Response, url: str, deadline: float) -> bytes:
        chunks: list[bytes] = []
        size = 0
        for chunk in answer.iter_bytes():
            size += len(chunk)
            if size > self.max_bytes:
                raise ImageError(f"{url}: larger than {self.max_bytes:,} bytes.")
            if time.monotonic() > deadline:
                raise ImageError(f"{url}: not complete within {self.seconds:g} s.")
            chunks.append(chunk)
        return b"".join(chunks)

    def _address(self, host: str, port: int, url: str) -> str:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise ImageError(f"{url}: {host} cannot be resolved ({error}).") from error
        addresses = [str(entry[4][0]) for entry in found]
        if not self.allow_private:
            for address in addresses:
                if not ipaddress.ip_address(address.split("%")[0]).is_global:
                    raise ImageError(
                        f"{url}: leads to the private address {address}, which is refused; "
                        "--allow-private-urls allows it."
                    )
        return addresses[0]


def default_cache() -> Path:
    """Where fetched pictures are kept: `$XDG_CACHE_HOME/mmrag/pictures`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "mmrag" / "pictures"


def _write(place: Path, data: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_suffix(f".{os.getpid()}-{time.monotonic_ns()}")
    temporary.write_bytes(data)
    temporary.replace(place)
