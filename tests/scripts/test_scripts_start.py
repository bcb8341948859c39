"""Scripts are run by hand, now and then: none may have lost what it imports meanwhile."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mmrag.errors import UsageError
from scripts.bench.attack import SHORT, areas, attack

pytestmark = pytest.mark.proof("time")

SCRIPTS = Path(__file__).parents[2] / "scripts"

_IMPORT_ALL = """
import ast, importlib.util, sys
from pathlib import Path

ours = {"mmrag", "simulator", "ui", "scripts", *(p.stem for p in Path("tests").rglob("*.py"))}

def lacking(path):  # what it imports later, when it is at work
    for node in ast.walk(ast.parse(Path(path).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] in ours:
            found = importlib.util.find_spec(node.module)
            text = Path(found.origin).read_text() if found and found.origin else ""
            inside = found and found.submodule_search_locations
            for name in (alias.name for alias in node.names):
                beside = inside and importlib.util.find_spec(f"{node.module}.{name}")
                if not beside and name not in text:
                    yield f"{node.module}.{name}"

for path in sys.argv[1:]:
    folder = path.rsplit("/", 1)[0]
    before, known = list(sys.path), set(sys.modules)
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("script", path)
        sys.modules["script"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name in lacking(path):
            print(f"{path}: {name} is not there")
    except Exception as error:
        print(f"{path}: {error!r}")
    sys.path[:] = before
    for name in set(sys.modules) - known:  # two folders have a module of the same name
        if str(getattr(sys.modules[name], "__file__", None)).startswith(folder):
            del sys.modules[name]
"""


def test_every_script_can_be_imported() -> None:
    scripts = sorted(str(path) for path in SCRIPTS.rglob("*.py") if path.name != "__init__.py")
    scripts = [path for path in scripts if "/scripts/reader/" not in path]  # by train_reader.py
    assert len(scripts) > 30
    found = subprocess.run(
        [sys.executable, "-c", _IMPORT_ALL, *scripts],
        capture_output=True, text=True, timeout=300, check=False, cwd=SCRIPTS.parent,
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (0, ""), found.stdout + found.stderr


def test_the_demo_holds_one_conversation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise UsageError("enough")

    for name in ("OMP_NUM_THREADS", "HF_HUB_OFFLINE"):  # which it sets for good
        monkeypatch.setenv(name, "1")
    from scripts.demo import talk

    monkeypatch.setattr("simulator.evaluate", refuse)
    with pytest.raises(SystemExit, match="enough"):
        talk(1)
    assert "== 1 conversation with the grounded agent" in capsys.readouterr().out


def test_the_demo_ends_at_once_where_its_port_is_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from scripts import demo

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        for given, words in ((port, f"port {port} is taken"), ("99999", "from 1 to 65535")):
            monkeypatch.setattr("sys.argv", ["demo", "--port", given])
            with pytest.raises(SystemExit):
                demo.main()
            assert words in capsys.readouterr().err


def test_the_engines_bench_scores_what_it_ran() -> None:
    command = [sys.executable, str(SCRIPTS / "bench" / "engine.py")]
    small = ["--sessions", "3", "--repeats", "1", "--memory", tempfile.gettempdir()]
    found = subprocess.run(
        [*command, *small], capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 0, found.stderr
    assert "turns/s" in found.stdout


# -- attack


@pytest.mark.parametrize("area", areas())
def test_nothing_goes_wrong_in_the_first_seconds(area: str) -> None:
    tries, faults = attack(area, seed=1, seconds=SHORT)
    assert tries
    assert faults == []
