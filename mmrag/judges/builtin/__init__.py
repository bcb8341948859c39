"""The built-in judge: rules of the guideline first, then trees that learnt from people."""

from mmrag.judges.builtin.judge import BuiltinJudge, Cascade, builtin_judge

__all__ = ["BuiltinJudge", "Cascade", "builtin_judge"]
