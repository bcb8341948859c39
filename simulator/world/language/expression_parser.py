"""What answers a need, as its author writes it: `it.price < next.price`, read into a program.

An expression is written as sums are, with dots. It is read into the program `answer_program.py`
runs, with things and slots still open (`["var", "it"]`, `["slot", "budget"]`);
`expression_types.py` says of what kind its result is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, cast

from mmrag.errors import DataError

THING = {"it": "the thing asked about", "next": "the one beside it in view",
         "other": "another of its kind, called {other} by its name",
         "shop": "a shop, called {shop} by its name",
         "answer": "what was named last before it"}  # fmt: skip
THINGS = {"both": "it and the one beside it", "these": "all in view, three or four of them"}

Node = list[Any]

_LONGEST = 300

_LARGEST = 1e12


def parse(text: str, slots: Mapping[str, Any]) -> Node:
    """An expression as a program with open places."""
    if len(text) > _LONGEST:
        raise DataError(f"is longer than {_LONGEST} characters; ask for less at a time.")
    try:
        return _node(ast.parse(text.strip(), mode="eval").body, slots)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise DataError(
            f"{text!r} cannot be read; write it like `it.price < next.price`."
        ) from error


def variables(node: object) -> frozenset[str]:
    """The things that a program leaves open."""
    if not isinstance(node, list):
        return frozenset()
    items = cast("list[Any]", node)
    if items[:1] == ["var"]:
        return frozenset({str(items[1])})
    return frozenset[str]().union(*(variables(part) for part in items))


def bind(node: Any, things: Mapping[str, Any], slots: Mapping[str, Any]) -> Any:
    """The program with its places filled: things by expressions, slots by values."""
    if not isinstance(node, list):
        return node
    items = cast("list[Any]", node)
    if items[:1] == ["var"]:
        return things[items[1]]
    if items[:1] == ["slot"]:
        return slots[items[1]]
    return [bind(part, things, slots) for part in items]


# -- reading


def _node(tree: ast.expr, slots: Mapping[str, Any]) -> Any:
    if isinstance(tree, ast.Constant):
        is_bounded = isinstance(tree.value, int | float) and abs(tree.value) < _LARGEST
        if not is_bounded and not isinstance(tree.value, str):
            raise DataError(f"{tree.value!r} is no word and no number below a million million.")
        return tree.value
    if isinstance(tree, ast.Name):
        if tree.id in THING or tree.id in THINGS:
            return ["var", tree.id]
        if tree.id in slots:
            return ["slot", tree.id]
        known = ", ".join((*THING, *THINGS, *slots))
        raise DataError(f"{tree.id!r} is nothing known here; there are {known}.")
    if isinstance(tree, ast.Attribute):
        return ["get", _node(tree.value, slots), tree.attr]
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return ["not", _node(tree.operand, slots)]
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return ["all", *(_node(part, slots) for part in tree.values)]
    if isinstance(tree, ast.BinOp) and type(tree.op) in _SUMS:
        return [_SUMS[type(tree.op)], _node(tree.left, slots), _node(tree.right, slots)]
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
        return _compared(tree.ops[0], _node(tree.left, slots), _node(tree.comparators[0], slots))
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        make = _CALLS.get(tree.func.id)
        if make is not None and not tree.keywords:
            return make(tree.args, slots)
        raise DataError(f"no function is called {tree.func.id!r}; there are {', '.join(_CALLS)}.")
    raise DataError(f"{ast.unparse(tree)!r} is more than an answer may be.")


_SUMS: dict[type[ast.operator], str] = {
    ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.Div: "over",
}  # fmt: skip


def _compared(op: ast.cmpop, a: Any, b: Any) -> Node:
    if isinstance(op, ast.Gt | ast.GtE):
        return ["above" if isinstance(op, ast.Gt) else "at_least", a, b]
    if isinstance(op, ast.Lt | ast.LtE):
        return ["above" if isinstance(op, ast.Lt) else "at_least", b, a]
    if isinstance(op, ast.Eq):
        return ["same", a, b] if isinstance(b, list) else ["is", a, b]
    if isinstance(op, ast.In):
        return ["has", b, a]
    if isinstance(op, ast.NotIn):
        return ["not", ["has", b, a]]
    raise DataError("compare with <, >, ==, in or not in.")


def _call(op: str, many: int) -> Callable[[list[ast.expr], Mapping[str, Any]], Node]:
    def make(args: list[ast.expr], slots: Mapping[str, Any]) -> Node:
        if len(args) != many:
            raise DataError(f"{op} takes {many} in brackets, not {len(args)}.")
        return [op, *(_node(arg, slots) for arg in args)]

    return make


def _keyed(op: str) -> Callable[[list[ast.expr], Mapping[str, Any]], Node]:
    """most(these, price): the second stands for an attribute."""

    def make(args: list[ast.expr], slots: Mapping[str, Any]) -> Node:
        if len(args) != 2 or not isinstance(args[1], ast.Name):
            raise DataError(f"write {op}(these, price): things, and the name of an attribute.")
        return [op, _node(args[0], slots), args[1].id]

    return make


def _which(args: list[ast.expr], slots: Mapping[str, Any]) -> Node:
    """which(these, price < budget): the condition is about each of them."""
    if len(args) == 2 and isinstance(args[1], ast.Compare) and len(args[1].ops) == 1:
        left, op, right = args[1].left, args[1].ops[0], args[1].comparators[0]
        if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Name):
            return ["where", _node(args[0], slots), right.id,
                    "has" if isinstance(op, ast.In) else "lacks", _node(left, slots)]  # fmt: skip
        signs: dict[type[ast.cmpop], str] = {
            ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "is",
        }  # fmt: skip
        sign = signs.get(type(op))
        if sign and isinstance(left, ast.Name):
            return ["where", _node(args[0], slots), left.id, sign, _node(right, slots)]
    raise DataError('write which(these, price < budget) or which(these, "milk" not in allergens).')


def _others(op: str) -> Callable[[list[ast.expr], Mapping[str, Any]], Node]:
    def make(args: list[ast.expr], slots: Mapping[str, Any]) -> Node:
        if len(args) != 2 or not isinstance(args[1], ast.Name):
            raise DataError(f"write {op}(it, maker): a thing, and a relation that others share.")
        thing, relation = _node(args[0], slots), args[1].id
        found = ["sources", ["get", thing, relation], relation, ["slot", "kind"]]
        return ["without", found, thing] if op == "others" else found

    return make


def _at(args: list[ast.expr], slots: Mapping[str, Any]) -> Node:
    got = [_node(arg, slots) for arg in args]
    if len(got) != 2 or got[0][:1] != ["get"]:
        raise DataError("write at(it.price, when), with `when: past price` under with.")
    return [*got[0], got[1]]


def _premise(args: list[ast.expr], slots: Mapping[str, Any]) -> Node:
    got = [_node(arg, slots) for arg in args]
    if len(got) not in (2, 3) or got[0][:1] != ["get"] or got[1][:1] != ["slot"]:
        raise DataError(
            "write premise(it.diet, claim) or premise(it.diet, claim, it.price), with "
            "`claim: claim diet` under with."
        )
    then = got[2] if len(got) == 3 else ["is", got[0], got[1]]
    return ["premise", got[0][1], got[0][2], got[1], then]


def _print(part: str) -> Callable[[list[ast.expr], Mapping[str, Any]], Node]:
    return lambda args, slots: ["printed", *(_node(arg, slots) for arg in args), part]


_CALLS: dict[str, Callable[[list[ast.expr], Mapping[str, Any]], Node]] = {
    "print": _print("label"), "small_print": _print("sublabel"),
    "most": _keyed("most"), "least": _keyed("least"), "total": _keyed("total"),
    "which": _which, "count": _call("count", 1), "others": _others("others"),
    "all": _others("all"), "at": _at, "premise": _premise, "deal": _call("deal", 2),
    "fits": _call("fits", 2), "minutes_until": _call("minutes_until", 1),
    "days_until": _call("days_until", 1), "weekday": _call("weekday", 1),
    "in_unit": _call("in_unit", 2), "either": _call("either", 3),
}  # fmt: skip
