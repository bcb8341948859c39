"""The direction of imports, cycles, and what `mmrag --help` may load."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED = {"mmrag": set(), "simulator": {"mmrag"}, "ui": {"mmrag", "simulator"}}
PROOFS = ("browser", "cluster", "kills", "render", "weights")
HEAVY = {
    "torch", "torchvision", "transformers", "open_clip", "chromadb", "gradio", "ray", "pandas",
    "sentence_transformers", "datasets", "cv2", "albumentations", "scipy", "matplotlib", "pyarrow",
}  # fmt: skip

_DOCTOR = "simulator.cli.doctor_checks"
"""It says what the renderer finds on this machine."""


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    """A collection within Python 3.11's `ast.parse` may format a traceback, which parses too."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@cache
def modules() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for package in ALLOWED:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = list(path.relative_to(ROOT).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(path: Path, name: str) -> set[str]:
    """What a module imports anywhere in it: in functions and under TYPE_CHECKING too."""
    tree = ast.parse(path.read_text())
    found: set[str] = set()

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import; write the full name"
            assert node.module is not None
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found.update(names)
            if not all(_is_module(name) for name in names):
                found.add(node.module)  # something of the package itself is wanted
    return found


@cache
def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


def test_arrows_point_down() -> None:
    wrong = [
        f"{name} imports {imported}"
        for name, path in modules().items()
        for imported in imports(path, name)
        if (package := imported.split(".")[0]) in {*ALLOWED, "scripts", "tests"}
        and package != name.split(".")[0]
        and package not in ALLOWED[name.split(".")[0]]
    ]
    assert not wrong, wrong


WAYS_OUT = {
    # what must not know: what it must not know
    "simulator.store": ("simulator.run.engine",),
    "simulator.datasets": ("simulator.world",),
    "mmrag.agents": ("mmrag.judges",),
    **dict.fromkeys(("mmrag", "simulator", "ui", "scripts"), ("simulator.cli",)),
}
COMMAND = (
    "simulator.cli", "scripts.eval_multi_turn", "scripts.robustness_report", "scripts.reference"
)  # fmt: skip
"""The command line's own modules, and what calls it."""


def test_rooms_know_what_they_may() -> None:
    scripts = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in sorted((ROOT / "scripts").rglob("*.py"))
    }
    wrong = [
        f"{name} imports {imported}"
        for name, path in {**modules(), **scripts}.items()
        for imported in imports(path, name)
        for room, others in WAYS_OUT.items()
        if f"{name}.".startswith(f"{room}.")
        and f"{imported}.".startswith(tuple(f"{other}." for other in others))
        and not (others == ("simulator.cli",) and name.startswith(COMMAND))
    ]
    wrong += [
        f"{name} imports {imported}"
        for name, path in modules().items()
        if name.startswith("mmrag.text")
        for imported in imports(path, name)
        if imported.startswith("mmrag.") and not imported.startswith(("mmrag.text", "mmrag.errors"))
    ]
    assert not wrong, wrong


def test_only_the_studio_knows_how_pictures_are_taken() -> None:
    """Its packages are an extra, and the world asks it through `Renderer` alone."""
    its_own = {"mitsuba", "drjit", "pyoidn", "skimage", "matplotlib"}
    below = ("simulator.world.facts.look", "simulator.world.facts.invented_names", *(
        f"simulator.world.pictures.{name}"
        for name in ("noise_tiles", "randomness", "referents", "scene", "traits")
    ))  # fmt: skip
    wrong: list[str] = []
    for name, path in modules().items():
        for imported in imports(path, name):
            if name.startswith("simulator.studio"):
                known = imported.startswith(below)
                bad = imported.startswith(("simulator.world", "simulator.datasets")) and not known
            else:
                studio = imported.startswith("simulator.studio") and name != _DOCTOR
                bad = studio or imported.split(".")[0] in its_own
            wrong += [f"{name} imports {imported}"] if bad else []
    assert not wrong, wrong


def test_no_import_cycles() -> None:
    known = modules()
    graph = {
        name: {i for i in imports(path, name) if i in known and i != name}
        for name, path in known.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, "cycle: " + " → ".join([*trail[trail.index(name) :], name])
        if name not in done:
            for target in graph[name]:
                visit(target, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_arrows_between_packages_go_one_way() -> None:
    """`world` may know `datasets` or the other way about: never both, however far around."""
    known = modules()

    def package(name: str) -> str:
        return ".".join(name.split(".")[:2])

    graph: dict[str, set[str]] = {package(name): set() for name in known}
    for name, path in known.items():
        for imported in imports(path, name):
            target = imported if imported in known else imported.rpartition(".")[0]
            if target in known and package(target) != package(name):
                graph[package(name)].add(package(target))
    reached: dict[str, set[str]] = {}
    for start in graph:
        waiting, seen = list(graph[start]), set[str]()
        while waiting:
            if (one := waiting.pop()) not in seen:
                seen.add(one)
                waiting += graph[one]
        reached[start] = seen
    assert [name for name, seen in reached.items() if name in seen] == []


def test_no_corridor_has_more_doors_than_one_can_read() -> None:
    """A folder of more modules wants rooms. Kinds of things in pictures have one each."""
    doors = Counter(
        str(path.parent.relative_to(ROOT))
        for path in modules().values()
        if not path.name.startswith("__")
    )
    kinds = {"simulator/studio/things": 48, "mmrag/agents/grounded": 24}
    assert {k: n for k, n in doors.items() if n > kinds.get(k, 14)} == {}


def test_help_loads_little_and_nothing_heavy() -> None:
    """What its start takes is counted in modules, which are the same on every machine."""
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom simulator.cli import main\n"
        "try: main()\nexcept SystemExit: print(*set(sys.modules) - before, file=sys.stderr)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True
    )
    assert "doctor" in shown.stdout
    loaded = shown.stderr.split()
    assert not HEAVY & {name.split(".")[0] for name in loaded}
    assert len(loaded) < 260, sorted(loaded)
    ours = [name for name in loaded if name.split(".")[0] in ALLOWED]
    assert len(ours) < 50, sorted(ours)


def test_tests_mirror_the_rooms() -> None:
    """Who knows where the code is knows where its tests are; of proofs, what they need."""
    rooms = {"ui": ROOT / "ui", "scripts": ROOT / "scripts"}
    rooms |= {f"proofs/{needs}": ROOT / "tests" / "proofs" / needs for needs in PROOFS}
    for package in ("mmrag", "simulator"):
        for path in (ROOT / package).rglob("__init__.py"):
            rooms[str(path.parent.relative_to(ROOT / package))] = path.parent
    folders = {str(p.parent.relative_to(ROOT / "tests")) for p in ROOT.glob("tests/**/test_*.py")}
    assert folders - {"."} <= set(rooms), folders - set(rooms)


def test_no_folder_of_tests_is_passed_over(request: pytest.FixtureRequest) -> None:
    """pytest skips folders called `build`: what lay in tests/world/build was never run."""
    skipped = request.config.getini("norecursedirs")
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    names = {part for folder in folders for part in folder.relative_to(ROOT).parts}
    assert [name for name in sorted(names) if any(fnmatch(name, one) for one in skipped)] == []


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest would refuse the second, in a run of all tests only."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_room_is_ignored() -> None:
    """A room called `build` was once unseen by git and ruff, because `.gitignore` named build/."""
    places = sorted({str(path.relative_to(ROOT)) for path in modules().values()})
    seen = subprocess.run(
        ["git", "check-ignore", "--no-index", *places], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert seen.stdout == ""
    assert all((path.parent / "__init__.py").is_file() for path in modules().values())
