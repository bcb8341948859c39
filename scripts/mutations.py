"""Breaks one line of each room, and says which tests notice.

    python scripts/mutations.py --seed 1            # what the fast suite catches
    python scripts/mutations.py --seed 1 --all      # what it misses, tried on the proofs too

A line is drawn by the seed; a comparison, a sum, a number, a truth value or a return is changed in
a copy of the checkout. Tests run in the order in which they are likely to notice: those that name
the module, those of its room, all others. One that fails is asked again without the change.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
ROOMS = (
    *(f"mmrag/{room}" for room in (
        "agents", "encoders", "files", "judges", "metrics", "models", "search", "text",
    )),
    *(f"simulator/{room}" for room in (
        "application", "cli", "cluster", "datasets", "exchange", "experiments", "faults",
        "link", "optics", "parts", "people", "reports", "run", "store", "terminal", "wearer",
        "world",
    )),
    "ui",
)  # fmt: skip
OTHER = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "+",
    ast.And: "or", ast.Or: "and",
}  # fmt: skip


class Change(NamedTuple):
    """Columns of one line, and what stands there instead."""

    line: int
    begin: int
    end: int
    text: str


def changes(source: str) -> Iterator[Change]:
    """Everything in a module that can be broken by changing one line."""
    lines = source.splitlines()
    for node in _running(ast.parse(source)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from _between(lines, node.left, node.comparators[0], OTHER[type(node.ops[0])])
        elif isinstance(node, ast.BinOp) and type(node.op) in OTHER:
            if not any(isinstance(side, ast.JoinedStr) for side in (node.left, node.right)):
                yield from _between(lines, node.left, node.right, OTHER[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            yield from _between(lines, *node.values[:2], OTHER[type(node.op)])
        elif isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
            if node.value not in (0, 1):
                continue  # a size, a weight, a time-out: another is seldom wrong
            other = not node.value if isinstance(node.value, bool) else node.value + 1
            yield Change(node.lineno - 1, node.col_offset, node.end_col_offset or 0, repr(other))
        elif isinstance(node, ast.Return) and node.value is not None:
            value = node.value
            if value.lineno == value.end_lineno and not isinstance(value, ast.Constant):
                end = value.end_col_offset or 0
                yield Change(value.lineno - 1, value.col_offset, end, "None")


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that decide what comes out: no annotation, no text of an error, nothing asserted."""
    if isinstance(tree, ast.Raise | ast.Assert):
        return
    if isinstance(tree, ast.keyword) and tree.arg in ("strict", "kw_only", "frozen"):
        return  # what they forbid is done nowhere
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield node
                yield from _running(node)


def _between(lines: list[str], left: ast.expr, right: ast.expr, text: str) -> Iterator[Change]:
    """The operator between two terms of one line."""
    if left.end_lineno == right.lineno:
        begin, end = left.end_col_offset or 0, right.col_offset
        there = lines[right.lineno - 1].encode()[begin:end].decode()
        if not set(there) & set("()"):
            yield Change(right.lineno - 1, begin, end, f" {text} ")


def broken(source: str, change: Change) -> str:
    """The module with the change in it; columns are counted in bytes, as `ast` does."""
    lines = source.splitlines(keepends=True)
    line = lines[change.line].encode()
    lines[change.line] = (line[: change.begin] + change.text.encode() + line[change.end :]).decode()
    return "".join(lines)


def draw(copy: Path, room: str, random: Random) -> tuple[Path, Change]:
    """A line of the room; each line is as likely as any other."""
    found = [
        (path.relative_to(copy), change)
        for path in sorted((copy / room).rglob("*.py"))
        for change in changes(path.read_text())
    ]
    lines = sorted({(path, change.line) for path, change in found})
    place = random.choice(lines)
    return random.choice([one for one in found if (one[0], one[1].line) == place])


def steps(copy: Path, path: Path, room: str, everything: bool) -> Iterator[tuple[str, list[str]]]:
    """Who is asked in turn: a name, and arguments of pytest."""
    fast = ["-m", "not proof"]
    module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    naming = [
        str(test.relative_to(copy))
        for test in sorted((copy / "tests").rglob("test_*.py"))
        if module in test.read_text()
    ]
    if naming:
        yield "fast", [*fast, *naming]
    own = "tests" / Path(room if room == "ui" else Path(room).name)
    if (copy / own).is_dir():
        yield "fast", [*fast, str(own)]
    yield "fast", [*fast, "--ignore=tests/proofs", f"--ignore={own}", "tests"]
    if everything:
        yield "all", ["-m", "proof", "--ignore=tests/proofs/browser", "tests"]
        yield "all", ["tests/proofs/browser"]


def caught(copy: Path, path: Path, change: Change, room: str, everything: bool) -> tuple[str, str]:
    """Which suite notices the change, made in the copy, and by which test; twice nothing if none.

    A test that fails without the change too has noticed nothing: the suite is then `unsure`.
    """
    whole = (copy / path).read_text()
    try:
        for suite, arguments in steps(copy, path, room, everything):
            (copy / path).write_text(broken(whole, change))
            done = ask(copy, arguments)
            if done.returncode in (0, 5):  # 5: there is no such test
                continue
            (copy / path).write_text(whole)
            said = done.stdout.rpartition("short test summary info")[2].splitlines()
            tests = [
                line.split(maxsplit=1)[1] for line in said if line.startswith(("FAILED", "ER"))
            ]
            if not tests:  # it could not even be collected
                is_whole = ask(copy, [*arguments, "--collect-only"]).returncode == 0
                return suite if is_whole else "unsure", "nothing could be collected"
            test = tests[0].rpartition(" - ")[0] or tests[0]
            is_whole = ask(copy, [test]).returncode == 0
            return suite if is_whole else "unsure", test
    finally:
        (copy / path).write_text(whole)
    return "", ""


def ask(copy: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run tests in the copy, up to the first that fails."""
    environment = {
        **os.environ, "PYTHONPATH": str(copy), "CI": "1", "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=copy, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", default=ROOMS)
    parser.add_argument("--all", action="store_true", help="ask the proofs too")
    asked = parser.parse_args()
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        for name in filter(None, names.stdout.decode().split("\0")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
        subprocess.run(["git", "init", "-q", str(copy)], check=True)  # some tests ask git
        count = Counter[str]()
        for room in asked.rooms:
            path, change = draw(copy, room, Random(f"{asked.seed}/{room}"))
            source = (copy / path).read_text()
            suite, test = caught(copy, path, change, room, asked.all)
            count[suite] += 1
            now = broken(source, change).splitlines()[change.line].strip()
            by = f"{suite}: {test}" if suite else "nobody notices"
            print(f"{path}:{change.line + 1}: {now}\n    {by}", flush=True)
    print(
        f"fast {count['fast']}, proofs {count['all']}, nobody {count['']}, unsure {count['unsure']}"
    )


if __name__ == "__main__":
    main()
