"""Fetch a picture that a data set names by URL: bounded, cached, and never from inside the network.

A data set is somebody else's text. A URL in it must not make this machine read a local file or
talk to a service behind the firewall, so only http(s) to public addresses is followed, and the
address that was checked is the one that is connected to (a name that resolves differently the
second time gains nothing). Proxies from the environment are ignored for the same reason.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import ImageError, StoreError
from mmrag.files.atomic import write_bytes
from mmrag.files.http_bodies import ASK_PLAIN, Body, BodyError
from mmrag.files.images import MAX_BYTES, size_of

if TYPE_CHECKING:
    import httpx

_REDIRECTS = 5

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_IPV4_AT_THE_END = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0/96", "64:ff9b::/96")))


class PictureFetcher:
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
        try:
            if place.is_file():
                return place.read_bytes()
            data = self._download(url)
            _check_picture(data, url)
            _write(place, data)
        except OSError as error:
            raise StoreError(
                f"{self.cache}: fetched pictures cannot be kept there ({error.strerror}). "
                "Let XDG_CACHE_HOME name a folder you may write to."
            ) from error
        return data

    def _download(self, url: str) -> bytes:
        """Within the limit whatever the server does, in a loop of its own: a caller may be in one.

        Cancelling is what ends a server that drips: a limit per read would begin anew each time.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="fetch") as thread:
            return thread.submit(asyncio.run, self._within_limit(url)).result()

    async def _within_limit(self, url: str) -> bytes:
        import httpx

        try:
            async with (
                asyncio.timeout(self.seconds),
                httpx.AsyncClient(
                    trust_env=False, follow_redirects=False, timeout=self.seconds
                ) as client,
            ):
                target = url
                for _ in range(_REDIRECTS + 1):
                    answer = await self._get(client, target)
                    if isinstance(answer, bytes):
                        return answer
                    target = answer
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ImageError(f"{url}: not complete within {self.seconds:g} s.") from error
        except (httpx.HTTPError, OSError) as error:
            words = str(error) or type(error).__name__
            raise ImageError(f"{url}: cannot be fetched ({words}).") from error
        except (httpx.InvalidURL, ValueError, OverflowError) as error:
            raise ImageError(f"{url}: not a valid URL ({error}).") from error
        raise ImageError(f"{url}: more than {_REDIRECTS} redirects.")

    async def _get(self, client: httpx.AsyncClient, url: str) -> bytes | str:
        """The body, or the URL of a redirect."""
        import httpx

        parsed = httpx.URL(url)
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ImageError(f"{url}: only http and https URLs are fetched.")
        address = await asyncio.to_thread(self._address, parsed.host, parsed.port or 443, url)
        request = client.build_request(
            "GET",
            parsed.copy_with(host=address),
            headers={"Host": parsed.netloc.decode(), "Accept": "image/*", **ASK_PLAIN},
            extensions={"sni_hostname": parsed.host},
        )
        answer = await client.send(request, stream=True)
        try:
            if answer.has_redirect_location:
                return str(parsed.join(answer.headers["location"]))
            if answer.status_code != 200:
                raise ImageError(f"{url}: the server answered {answer.status_code}.")
            return await self._body(answer, url)
        finally:
            await answer.aclose()

    async def _body(self, answer: httpx.Response, url: str) -> bytes:
        try:
            body = Body(answer.headers, self.max_bytes)
            async for chunk in answer.aiter_raw():
                body.add(chunk)
            return body.data()
        except BodyError as error:
            raise ImageError(f"{url}: {error}.") from error

    def _address(self, host: str, port: int, url: str) -> str:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise ImageError(f"{url}: {host} cannot be resolved ({error}).") from error
        addresses = [str(entry[4][0]) for entry in found]
        if not self.allow_private:
            for address in addresses:
                if not is_public(address):
                    raise ImageError(
                        f"{url}: leads to the private address {address}, which is refused; "
                        "--allow-private-urls allows it."
                    )
        return addresses[0]


def is_public(address: str) -> bool:
    """Whether a numeric address is one host of the public Internet. IPv6 has many ways to write an
    IPv4 address; what counts is where a packet would end."""
    found = ipaddress.ip_address(address.split("%")[0])
    if isinstance(found, ipaddress.IPv4Address):
        return found.is_global and not found.is_multicast
    inside = _ipv4_in(found)
    if inside:
        return all(is_public(str(one)) for one in inside)
    return found in _GLOBAL_UNICAST and found.is_global


def _ipv4_in(address: ipaddress.IPv6Address) -> tuple[ipaddress.IPv4Address, ...]:
    """The IPv4 addresses that an IPv6 address stands for."""
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address.teredo is not None:
        return address.teredo
    isatap = (int(address) >> 32) & 0xFDFFFFFF == 0x5EFE
    if isatap or any(address in network for network in _IPV4_AT_THE_END):
        return (ipaddress.IPv4Address(int(address) & 0xFFFFFFFF),)
    return ()


def default_cache() -> Path:
    """Where fetched pictures are kept: `$XDG_CACHE_HOME/mmrag/pictures`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "mmrag" / "pictures"


def _check_picture(data: bytes, url: str) -> None:
    """What is no picture must not be cached: the server may be mended, the cache would not be."""
    try:
        size_of(data, name=url)
    except ImageError as error:
        raise ImageError(
            f"{url}: what the server sent is not a usable picture ({error})"
        ) from error


def _write(place: Path, data: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(place, data, lasting=False)
