"""Attack the doors: addresses behind URLs, and uploads from pages elsewhere.

Each try hides something private (an address, the upload of a page elsewhere) in one of many ways
and looks whether it gets through; each has a twin that must get through.
"""

from __future__ import annotations

import contextlib
import ipaddress
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scripts.bench.attacks import Case

TRIES = 1_000

PRIVATE = (
    "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "0.0.0.0/8",
    "100.64.0.0/10", "224.0.0.0/4", "240.0.0.0/4", "198.18.0.0/15", "192.0.2.0/24",
)  # fmt: skip
PRIVATE_6 = ("::1/128", "::/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
             "64:ff9b:1::/48", "100::/64", "2001:db8::/32")  # fmt: skip
PUBLIC = ("8.8.0.0/16", "93.184.216.0/24", "151.101.0.0/16", "1.1.1.0/24")
WRAPPED = (0, 0xFFFF << 32, 0x64FF9B << 96)  # compatible, mapped, NAT64


def cases(seed: int, work: Path) -> Iterator[Case]:
    """Addresses and requests in turn."""
    chance = random.Random(seed)
    with contextlib.ExitStack() as stack:
        visit = _visitor(work, stack)
        kinds: tuple[Callable[[], tuple[str, str | None]], ...] = (
            lambda: _address(chance),
            lambda: _written_address(chance, work),
            lambda: visit(chance),
        )
        for number in range(TRIES):
            kind = kinds[number % len(kinds)]
            try:
                what, fault = kind()
            except Exception as error:
                what, fault = "surprise", f"{type(error).__name__}: {error}"[:300]
            yield Case(what, fault)


def _one_of(networks: tuple[str, ...], chance: random.Random) -> Any:
    network = ipaddress.ip_network(chance.choice(networks))
    return network[chance.randrange(min(network.num_addresses, 1 << 62))]


def _hidden(chance: random.Random, inside: int) -> ipaddress.IPv6Address:
    """An IPv4 address in one of the ways in which IPv6 writes one."""
    how = chance.randrange(6)
    if how < 3:
        return ipaddress.IPv6Address(WRAPPED[how] + inside)
    rest = chance.getrandbits(64)
    if how == 3:
        return ipaddress.IPv6Address((0x2002 << 112) | (inside << 80) | rest)
    if how == 4:  # Teredo: the server, flags, and the client's address turned over
        client = inside ^ 0xFFFFFFFF
        return ipaddress.IPv6Address((0x20010000 << 96) | (0x08080808 << 64) | client)
    return ipaddress.IPv6Address((0x26064700 << 96) | (0x5EFE << 32) | inside)


def _address(chance: random.Random) -> tuple[str, str | None]:
    from simulator.datasets.fetch import is_public

    private = chance.random() < 0.7
    if private and chance.random() < 0.3:
        address: Any = _one_of(PRIVATE_6, chance)
    else:
        address = _one_of(PRIVATE if private else PUBLIC, chance)
        if chance.random() < 0.7:
            address = _hidden(chance, int(address))
    what = "private address" if private else "public address"
    wrong = is_public(str(address)) is private
    return what, f"{address} is taken for the other" if wrong else None


def _written_address(chance: random.Random, work: Path) -> tuple[str, str | None]:
    from mmrag.errors import ImageError
    from simulator.datasets.fetch import Fetcher

    inside = int(_one_of(PRIVATE[:7], chance))
    host = chance.choice(
        (
            str(ipaddress.IPv4Address(inside)), str(inside), hex(inside),
            f"[{ipaddress.IPv6Address(inside)}]", f"[{_hidden(chance, inside)}]", "localhost",
            "LOCALHOST.", f"user@{ipaddress.IPv4Address(inside)}", "0", "127.1",
        )
    )  # fmt: skip
    url = f"{chance.choice(('http', 'https', 'HTTP'))}://{host}:{chance.randrange(1, 65536)}/a.jpg"
    try:
        Fetcher(work / "cache", seconds=20).fetch(url)
    except ImageError as error:
        refused = any(word in str(error) for word in ("refused;", "no valid URL", "resolved"))
        return "written address", None if refused else f"{url}: tried ({error})"[:300]
    return "written address", f"{url}: fetched"


def _visitor(
    work: Path, stack: contextlib.ExitStack
) -> Callable[[random.Random], tuple[str, str | None]]:
    """Requests to the app as pages elsewhere, its own pages and programs send them."""
    from starlette.testclient import TestClient

    from mmrag.protocols import Resources
    from ui.pages.app import LiveSetup
    from ui.server import make_server
    from ui.views.live_view import AgentShelf

    live = LiveSetup(AgentShelf(Resources, ["random"]), ["random"], work / "saved")
    client = stack.enter_context(
        TestClient(make_server({}, live), base_url="http://127.0.0.1:7860")
    )
    own = "http://127.0.0.1:7860"

    def visit(chance: random.Random) -> tuple[str, str | None]:
        foreign = chance.random() < 0.7
        if chance.random() < 0.15:
            path = chance.choice(("/openapi.json", "/gradio_api/openapi.json", "/docs", "/redoc",
                                  "/gradio_api/file=/etc/passwd", "/file=/etc/passwd"))  # fmt: skip
            status = client.get(path).status_code
            return "closed path", None if status in (403, 404) else f"{path}: {status}"
        origins = ("https://evil.example", "null", f"{own}0", "http://localhost:7860", "http://[",
                   "file://", "https://127.0.0.1:7860.evil.example", "")  # fmt: skip
        headers = {"Origin": chance.choice(origins) if foreign else own}
        if foreign and chance.random() < 0.4:
            headers = {"Sec-Fetch-Site": chance.choice(("cross-site", "same-site", "odd"))}
        path = chance.choice(("upload", "queue/join", "run/predict", "cancel", "reset"))
        files = {"files": (f"{chance.random()}.jpg", b"\xff\xd8" + bytes(64), "image/jpeg")}
        if path == "upload" or foreign:
            status = client.post(f"/gradio_api/{path}", files=files, headers=headers).status_code
            wrong = (status == 403) is not foreign
            who = "elsewhere" if foreign else "its own page"
            return f"post from {who}", f"{path} {headers}: {status}" if wrong else None
        status = client.get("/", headers=headers).status_code
        return "page", None if status == 200 else f"the page: {status}"

    return visit
