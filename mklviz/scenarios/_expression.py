"""Expressions over the result of a race, in which lessons give their answers: numbers, runs and a few functions.

    1 + (svm_solves(simplemkl) / svm_solves(level) >= 2)

The text is parsed as Python is. Then nothing but arithmetic, comparisons, ``and``, ``or``, ``not``, ``if``/``else``,
places in lists and the functions of `mklviz.scenarios._quantities` is computed: it comes from files that anybody may
write, so it can reach nothing else.
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from mklviz.errors import MklvizError, ProblemError
from mklviz.numbers import share_text
from mklviz.quoting import hint

__all__ = ["Expression", "Sentences"]

Functions = Mapping[str, Callable[..., Any]]  # each given the result first, then what stands in its brackets
LONGEST = 1000  # signs of an expression
MOST_BITS = 1000  # of a whole number, which doubles with every product
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge},
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.USub: operator.neg, ast.Not: operator.not_},
}
_ALLOWED = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare),
    *(ast.BoolOp, ast.And, ast.Or, ast.IfExp, ast.Subscript, *_OPERATORS),
)
# of values that do not fit
_UNFIT = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_IF = re.compile(r"\{if ([^{}]*)\}(.*?)\{end\}", re.DOTALL)
_PART = re.compile(r"\{([^{}]*?)(?::(,?(?:\.\d)?[fd%]?|share\d?))?\}")


class Expression:
    """An expression that may use these functions and names; `where` it stands begins the sentences of its errors.

    Raises `ProblemError` with a sentence for text that is none, or that uses anything else.
    """

    def __init__(self, text: str, functions: Functions, names: Collection[str], where: str = "") -> None:
        self.text, self._functions, self._where = " ".join(text.split()), functions, where
        if len(text) > LONGEST:
            raise self.wrong(f"is too long: {LONGEST:,} signs are enough for an expression.")
        try:
            self._body = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self.wrong("is no expression: write one such as svm_solves(level) < 20.") from None
        for node in ast.walk(self._body):
            self._check(node, names)

    def wrong(self, why: str) -> ProblemError:
        """Return an error of which the expression is the subject."""
        return ProblemError(f"{self._where}“{self.text:.80}” {why}")

    def _check(self, node: ast.AST, names: Collection[str]) -> None:
        if not isinstance(node, _ALLOWED) or isinstance(getattr(node, "value", 0), (bytes, complex)):
            raise self.wrong(
                f"has “{_written(node):.40}”: an expression has numbers, names of runs, functions, + - * / < <= == and"
                " the words and, or, not, if, else."
            )
        if isinstance(node, ast.Call):
            self._check_call(node)
        elif isinstance(node, ast.Name) and node.id not in {*names, *self._functions}:
            raise self.wrong(f"has “{node.id:.40}”, which is no name here; {hint(node.id, names)}")

    def _check_call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else _written(node.func)
        if name not in self._functions:
            raise self.wrong(f"has “{name:.40}”, which is no function; {hint(name, self._functions)}")
        try:
            inspect.signature(self._functions[name]).bind(None, *node.args)
        except TypeError as error:
            raise self.wrong(f"has “{_written(node):.80}”, which does not fit: {error}.") from None

    def value(self, outcome: Any, names: Mapping[str, Any]) -> Any:
        """Return what comes out for a result; `names` are the values of those that are no runs.

        Raises `ProblemError` where it cannot be computed.
        """
        try:
            return self._of(self._body, outcome, names)
        except (MklvizError, *_UNFIT) as error:
            raise self.wrong(f"could not be computed: {str(error).rstrip('.')}.") from error

    def _of(self, node: Any, outcome: Any, names: Mapping[str, Any]) -> Any:
        def of(inner: ast.AST) -> Any:
            return self._of(inner, outcome, names)

        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return names.get(node.id, node.id)
            case ast.Call(func=ast.Name(id=name)):
                made = self._functions[name](outcome, *map(of, node.args))
                return made.tolist() if hasattr(made, "tolist") else made
            case ast.BinOp():
                return _OPERATORS[type(node.op)](_number(of(node.left)), _number(of(node.right)))
            case ast.UnaryOp():
                return _OPERATORS[type(node.op)](_number(of(node.operand)))
            case ast.IfExp():
                return of(node.body) if of(node.test) else of(node.orelse)
            case ast.BoolOp():
                return (all if isinstance(node.op, ast.And) else any)(of(each) for each in node.values)
            case ast.Subscript():
                return of(node.value)[of(node.slice)]
        sides = [of(each) for each in (node.left, *node.comparators)]
        pairs = zip(node.ops, sides, sides[1:], strict=False)
        return all(_OPERATORS[type(op)](one, other) for op, one, other in pairs)


def _number(value: Any) -> Any:
    if not isinstance(value, (int, float)):
        raise TypeError(f"{value!r:.40} is no number")
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ValueError("a whole number came to more than 300 digits")
    return value


def _written(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__


class Sentences:
    """Text in which ``{expression}`` stands for a number, and ``{if expression} ... {end}`` for what is only told then.

    Behind a colon stands how a number is written, as in Python, ``:,`` and ``:.1f``, or ``:share``, in per cent;
    ``:share1`` has one digit. `where` says in words where a place in the text is. Raises what `Expression` raises.
    """

    def __init__(
        self, text: str, functions: Functions, names: Collection[str], where: Callable[[int], str] = lambda _: ""
    ) -> None:
        if text.count("{if ") != text.count("{end}"):
            raise ProblemError(f"{where(max(text.find('{if '), 0))}Each {{if …}} has an {{end}} behind it.")
        self._text = text
        self._known: dict[str, Expression] = {}
        ifs = list(_IF.finditer(text))
        bare = _IF.sub(lambda match: " " * (match.start(2) - match.start()) + match[2] + " " * len("{end}"), text)
        for match in [*ifs, *_PART.finditer(bare)]:
            self._known.setdefault(match[1], Expression(match[1], functions, names, where(match.start())))

    def told(self, outcome: Any, names: Mapping[str, Any]) -> str:
        """Return the text for a result, on one line."""

        def written(match: re.Match[str]) -> str:
            value, how = self._known[match[1]].value(outcome, names), match[2] or ""
            try:
                return share_text(value, int(how[5:] or 2)) if how.startswith("share") else format(value, how)
            except (TypeError, ValueError, OverflowError):
                raise self._known[match[1]].wrong(f"came out as {value!r:.40}, which “{how}” cannot write.") from None

        kept = _IF.sub(lambda match: match[2] if self._known[match[1]].value(outcome, names) else "", self._text)
        return " ".join(filter(None, re.split(r"[ \t\n]+", _PART.sub(written, kept))))
