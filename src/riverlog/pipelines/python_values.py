"""What an expression in a file of definitions is worth, as far as its text alone tells."""

import ast
from collections.abc import Mapping
from typing import Final


class _Unknown:
    """A value that shows only when the file runs."""


UNKNOWN: Final = _Unknown()


class Values:
    """Knows texts, numbers, dictionaries, constants of the file, and `spark.conf.get`."""

    def __init__(self, tree: ast.Module, configuration: Mapping[str, str]) -> None:
        self._configuration = configuration
        self._constants: dict[str, object] = {}
        assigned: set[str] = set()
        for node in tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target: ast.expr = node.targets[0]
                value: ast.expr | None = node.value
            elif isinstance(node, ast.AnnAssign):
                target, value = node.target, node.value
            else:
                continue
            if isinstance(target, ast.Name) and value is not None:
                # One that changes has no value that holds everywhere.
                known = UNKNOWN if target.id in assigned else self.of(value)
                assigned.add(target.id)
                self._constants[target.id] = known

    def of(self, node: ast.expr) -> object:
        """Its value, or `UNKNOWN`; a dictionary may have `UNKNOWN` among its keys."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._constants.get(name, UNKNOWN)
            case ast.JoinedStr(values=parts):
                return self._text(parts)
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self.of(value)
            case ast.Dict(keys=keys, values=values):
                return self._dictionary(keys, values)
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="conf"), attr="get")):
                return self._setting(node)
            case ast.Call(func=ast.Name(id="dict"), args=[]):
                known, is_whole = self.keywords(node)
                rest: dict[object, object] = {} if is_whole else {UNKNOWN: UNKNOWN}
                rest.update(known)
                return rest
        return UNKNOWN

    def keywords(self, call: ast.Call) -> tuple[dict[str, object], bool]:
        """The keyword arguments that are known by name, and whether these are all."""
        known: dict[str, object] = {}
        is_whole = True
        for each in call.keywords:
            value = self.of(each.value)
            if each.arg is not None:
                known[each.arg] = value
            elif isinstance(value, dict):
                is_whole &= UNKNOWN not in value
                known |= {str(name): text for name, text in value.items() if name is not UNKNOWN}
            else:
                is_whole = False
        return known, is_whole

    def _text(self, parts: list[ast.expr]) -> object:
        values = [self.of(part) for part in parts]
        if any(isinstance(value, _Unknown | dict) for value in values):
            return UNKNOWN
        return "".join(map(str, values))

    def _dictionary(self, keys: list[ast.expr | None], values: list[ast.expr]) -> object:
        known: dict[object, object] = {}
        for key, value in zip(keys, values, strict=True):
            if key is not None:
                name = self.of(key)
                known[name if isinstance(name, str) else UNKNOWN] = self.of(value)
                continue
            below = self.of(value)
            known |= below if isinstance(below, dict) else {UNKNOWN: UNKNOWN}
        return known

    def _setting(self, call: ast.Call) -> object:
        """`spark.conf.get(name)`, with or without a default."""
        values = [self.of(each) for each in call.args]
        if not values or not isinstance(values[0], str):
            return UNKNOWN
        default = values[1] if len(values) > 1 else UNKNOWN
        return self._configuration.get(values[0], default)
