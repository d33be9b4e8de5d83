"""
Values out of TypeScript, JavaScript and JSON by reading alone: no code is run.

What is read: literals, templates, `+`, `as` and `satisfies`, spreads, constants and enums of the same
file, `Object.freeze`, `new Map` and `new Set` of literals, `[…].join("…")`. Anything else is a `Problem`
with its line, and costs the value that it stands in, not its neighbours.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tree_sitter import Language, Node, Parser
from tree_sitter_typescript import language_typescript

from service.analysis.source_values import ABSENT, MEMBER, Allowance, Group, Member, Spent, Unread

DEPTH_LIMIT = 60
"""How deep values may be nested."""
TEXT_LIMIT = 1_000_000
"""Characters of one text that is put together, and members of one group: constants that double each
other grow without end."""
FILE_LIMIT = 16 * 1024 * 1024
"""Characters of everything that is put together in a file, twice what a file may have; a member that is
spread costs `MEMBER` of them."""

_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.|\n)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_WRAPPERS = {"parenthesized_expression", "as_expression", "satisfies_expression"}
_WRAPPERS |= {"non_null_expression", "type_assertion"}


class Problem(Exception):
    """What cannot be read, in the words of a sentence, and its line (from 1)."""

    def __init__(self, node: Node, why: str) -> None:
        super().__init__(why)
        self.line = node.start_point[0] + 1
        self.why = why


@dataclass(slots=True)
class Source:
    """The constants of a file, by name, and the lines at which it is no source."""

    constants: dict[str, Group | Unread | Any]
    broken: list[int]


def read_json(text: str) -> Group | Unread | Any:
    """Read one JSON value, with lines; comments and trailing commas may be there."""
    root = _parse(f"({text})")
    if root.has_error:  # half of a value would be read as if the rest had not been there
        return _no_json(text, root)
    found = [node for node in root.named_children if node.type != "comment"]
    if len(found) != 1 or found[0].type != "expression_statement":
        broken = _broken(root)
        return Unread(broken[0] if broken else 1, "the file is no JSON value")
    return _Reader({}).value(found[0].named_children[0])


def _no_json(text: str, root: Node) -> Unread:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if text.strip() and "/" not in text[error.pos : error.pos + 1]:  # no comment
            return Unread(error.lineno, f"no JSON: {error.msg} at column {error.colno}")
    except RecursionError:
        pass
    broken = _broken(root)
    return Unread(broken[0] if broken else 1, "the file is no JSON value")


def read_source(text: str) -> Source:
    """Read the constants that a file declares at its top, and the members of its enums."""
    root = _parse(text)
    declared = dict(_declared(root))
    reader = _Reader(declared)
    return Source({name: reader.constant(name) for name in declared}, _broken(root))


def _parse(text: str) -> Node:
    parser = Parser(Language(language_typescript()))
    return parser.parse(text.encode("utf-8", "replace")).root_node


def _broken(root: Node) -> list[int]:
    """Lines of syntax errors, the innermost ones."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        inner = [child for child in node.children if child.has_error or child.is_missing]
        if node.has_error and not inner:
            found.append(node.start_point[0] + 1)
        waiting += inner
    return sorted(set(found))


def _declared(root: Node) -> Iterator[tuple[str, Node]]:
    for statement in root.named_children:
        inner = statement.child_by_field_name("declaration") or statement
        if statement.type == "export_statement" and (
            value := statement.child_by_field_name("value")
        ):
            yield "default", value
        elif inner.type in ("lexical_declaration", "variable_declaration"):
            for each in inner.named_children:
                name, value = each.child_by_field_name("name"), each.child_by_field_name("value")
                if name is not None and value is not None:
                    yield _source(name), value
        elif inner.type == "enum_declaration":
            name, body = inner.child_by_field_name("name"), inner.child_by_field_name("body")
            if name is not None and body is not None:
                yield _source(name), body


def _source(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


@dataclass(slots=True)
class _Reader:
    """Values of nodes. A constant is read when it is met, and not within itself."""

    declared: dict[str, Node]
    open: list[str] = field(default_factory=list)
    depth: int = 0
    known: dict[str, Any] = field(default_factory=dict)
    allowance: Allowance = field(default_factory=lambda: Allowance(FILE_LIMIT))

    def constant(self, name: str) -> Any:
        """The value of a declared name, read once."""
        if name not in self.known:
            self.open.append(name)
            self.known[name] = self.value(self.declared[name])
            self.open.pop()
        return self.known[name]

    def value(self, node: Node) -> Any:
        """The value of a node, `Unread` where it has none."""
        self.depth += 1
        try:
            if self.depth > DEPTH_LIMIT:
                raise Problem(node, "nested too deep")
            return self._read(node)
        except Problem as problem:
            return Unread(problem.line, problem.why)
        finally:
            self.depth -= 1

    def _read(self, node: Node) -> Any:
        if node.type == "ERROR" or (node.has_error and not node.named_children):
            raise Problem(node, "a syntax error")
        if node.type in _WRAPPERS:
            inner = [
                n for n in node.named_children if not n.type.startswith(("comment", "type_arg"))
            ]
            return self.value(inner[-1] if node.type == "type_assertion" else inner[0])
        reader = getattr(self, f"_{node.type}", None)
        if reader is None:
            raise Problem(node, f"{_what(node)} would have to be run; write the value out")
        return reader(node)

    # ------------------------------------------------------------------ scalars

    def _string(self, node: Node) -> str:
        if node.has_error:
            raise Problem(node, "a syntax error")
        return _unescaped(_source(node)[1:-1])

    def _template_string(self, node: Node) -> str:
        return self._joined(self._pieces(node), node)

    def _pieces(self, node: Node) -> Iterator[str]:
        at, raw = node.start_byte + 1, node.text or b""
        for part in node.named_children:
            if part.type == "template_substitution":
                yield _cut(raw, node, at, part.start_byte)
                yield _text(self.value(part.named_children[0]), part)
                at = part.end_byte
        yield _cut(raw, node, at, node.end_byte - 1)

    def _joined(self, parts: Iterable[str], node: Node, between: str = "") -> str:
        """Texts put together, once it is known that they are not too long."""
        found: list[str] = []
        size = 0
        for part in parts:
            size += len(part) + (len(between) if found else 0)
            if size > TEXT_LIMIT:
                raise Problem(node, str(Spent()))
            found.append(part)
        self._spend(size, node)
        return between.join(found)

    def _spend(self, size: int, node: Node) -> None:
        try:
            self.allowance.spend(size)
        except Spent as spent:
            raise Problem(node, str(spent)) from None

    def _number(self, node: Node) -> int | float:
        text = _source(node).replace("_", "")
        try:
            is_whole = re.fullmatch(r"0[xXoObB].*|\d{1,400}", text)
            number = int(text, 0) if is_whole else float(text)
        except ValueError:
            raise Problem(node, f"{text[:40]} is no number") from None
        if number > sys.float_info.max:
            raise Problem(node, f"{text[:40]} is infinite")
        return number

    def _true(self, _node: Node) -> bool:
        return True

    def _false(self, _node: Node) -> bool:
        return False

    def _null(self, _node: Node) -> None:
        return None

    def _undefined(self, _node: Node) -> Any:
        return ABSENT

    def _unary_expression(self, node: Node) -> Any:
        operator, argument = (node.child_by_field_name(name) for name in ("operator", "argument"))
        value = self.value(argument) if argument else None
        if operator and _source(operator) == "-" and isinstance(value, int | float):
            return -value
        if isinstance(value, Unread):
            raise Problem(node, value.why)
        raise Problem(node, f"{_source(node)[:40]} would have to be run; write the value out")

    def _binary_expression(self, node: Node) -> str:
        parts: list[str] = []
        left: Node | None = node
        while left is not None and left.type == "binary_expression":
            operator, right = (left.child_by_field_name(name) for name in ("operator", "right"))
            if operator is None or right is None or _source(operator) != "+":
                raise Problem(node, "a calculation would have to be run; write the value out")
            parts.append(_text(self.value(right), right))
            left = left.child_by_field_name("left")
        if left is not None:
            parts.append(_text(self.value(left), left))
        return self._joined(reversed(parts), node)

    # ------------------------------------------------------------------ names

    def _identifier(self, node: Node) -> Any:
        name = _source(node)
        if name == "undefined":
            return ABSENT
        if name not in self.declared:
            raise Problem(node, f"{name} is not a constant of this file; write its value out")
        if name in self.open:
            raise Problem(node, f"{name} refers to itself")
        found = self.constant(name)
        if isinstance(found, Unread):
            raise Problem(node, f"{name} (line {found.line}): {found.why}")
        return found

    def _member_expression(self, node: Node) -> Any:
        of, name = (node.child_by_field_name(each) for each in ("object", "property"))
        group = self.value(of) if of else None
        if isinstance(group, Group) and name:
            try:
                return group.last(_source(name))
            except KeyError:
                pass
        raise Problem(node, f"{_source(node)[:80]} is not a constant of this file")

    # ------------------------------------------------------------------ groups

    def _array(self, node: Node) -> Group:
        members: list[Member] = []
        for item in node.named_children:
            if item.type == "spread_element":
                self._extend(members, item, "list")
            elif item.type != "comment":
                members.append(Member(None, item.start_point[0] + 1, self.value(item)))
        return Group("list", members)

    def _object(self, node: Node) -> Group:
        members: list[Member] = []
        for item in node.named_children:
            line = item.start_point[0] + 1
            if item.type == "comment":
                continue
            if item.type == "spread_element":
                try:
                    self._extend(members, item, "object")
                except Problem as problem:
                    members.append(Member(None, line, Unread(problem.line, problem.why)))
            elif item.type == "shorthand_property_identifier":
                members.append(Member(_source(item), line, self._held(self._identifier, item)))
            else:
                members.append(self._pair_of(item, line))
        return Group("object", members)

    def _pair_of(self, item: Node, line: int) -> Member:
        key, value = item.child_by_field_name("key"), item.child_by_field_name("value")
        if item.type != "pair" or key is None or value is None:
            broken = item.type == "ERROR"
            named = item.child_by_field_name("name")
            why = "a syntax error" if broken else f"{_what(item)} is no value; write it out"
            return Member(_source(named) if named else None, line, Unread(line, why))
        name = self._held(self._key, key)
        if isinstance(name, Unread):
            return Member(None, line, name)
        return Member(name, line, self.value(value))

    def _key(self, node: Node) -> str:
        if node.type == "computed_property_name":
            return _text(self.value(node.named_children[0]), node)
        return self._string(node) if node.type == "string" else _source(node)

    def _held(self, read: Any, node: Node) -> Any:
        try:
            return read(node)
        except Problem as problem:
            return Unread(problem.line, problem.why)

    def _extend(self, members: list[Member], node: Node, kind: str) -> None:
        """Add the members of what is spread."""
        found = self.value(node.named_children[0])
        if isinstance(found, Unread):
            raise Problem(node, found.why)
        if not isinstance(found, Group) or found.kind != kind:
            raise Problem(node, f"{_source(node)[:40]} is no {kind}")
        if len(members) + len(found.members) > TEXT_LIMIT:
            raise Problem(node, str(Spent()))
        self._spend(MEMBER * len(found.members), node)
        members += found.members

    def _enum_body(self, node: Node) -> Group:
        members = []
        for item in node.named_children:
            name, value = item.child_by_field_name("name"), item.child_by_field_name("value")
            if item.type == "enum_assignment" and name is not None and value is not None:
                members.append(Member(self._key(name), item.start_point[0] + 1, self.value(value)))
        return Group("object", members)

    # ------------------------------------------------------------------ calls that are values

    def _new_expression(self, node: Node) -> Any:
        made, given = self._call(node, "constructor")
        if made in ("Map", "Set") and isinstance(given, Group):
            return _mapped(given) if made == "Map" and given.kind == "list" else given
        raise Problem(node, f"new {made} would have to be run; write the value out")

    def _call_expression(self, node: Node) -> Any:
        called, given = self._call(node, "function")
        if called in ("Object.freeze", "Object.entries") and isinstance(given, Group):
            return given
        function = node.child_by_field_name("function")
        if function is not None and called.endswith(".join") and isinstance(given, str):
            of = function.child_by_field_name("object")
            group = self.value(of) if of else None
            if isinstance(group, Group) and group.kind == "list" and of is not None:
                texts = (_text(member.value, of) for member in group.members)
                return self._joined(texts, node, given)
        raise Problem(node, f"{called[:60]}(…) would have to be run; write the value out")

    def _call(self, node: Node, field_name: str) -> tuple[str, Any]:
        """What is called, and the value of its only argument."""
        called = node.child_by_field_name(field_name)
        arguments = node.child_by_field_name("arguments")
        listed = [n for n in arguments.named_children if n.type != "comment"] if arguments else []
        is_one = arguments is not None and arguments.type == "arguments" and len(listed) == 1
        only = self.value(listed[0]) if is_one else None
        if isinstance(only, Unread):
            raise Problem(node, f"line {only.line}: {only.why}")
        return _source(called) if called else "", only


def _mapped(pairs: Group) -> Group:
    """The object that `new Map([[key, value], …])` is."""
    members = []
    for pair in pairs.members:
        inner = pair.value.members if isinstance(pair.value, Group) else []
        good = len(inner) == 2 and isinstance(inner[0].value, str)
        value = inner[1].value if good else Unread(pair.line, "no pair of a name and a value")
        members.append(Member(inner[0].value if good else None, pair.line, value))
    return Group("object", members)


def _text(value: Any, node: Node) -> str:
    if isinstance(value, Unread):
        raise Problem(node, value.why)
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(int(value) if value == int(value) else value)
    raise Problem(node, f"{_source(node)[:40]} is no text")


def _cut(raw: bytes, node: Node, start: int, end: int) -> str:
    piece = raw[start - node.start_byte : end - node.start_byte]
    return _unescaped(piece.decode("utf-8", "replace").replace("\r\n", "\n"))


def _unescaped(text: str) -> str:
    """The text of a literal between its quotes; halves of a surrogate pair are joined."""
    if "\\" not in text:
        return text
    found = _ESCAPE.sub(_letter, text)
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _letter(found: "re.Match[str]") -> str:
    code = found[1]
    if code[0] in "ux" and len(code) > 1:
        number = int(code[1:].strip("{}"), 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd"
    return "" if code in ("\n", "\r\n") else _LETTERS.get(code, code)


def _what(node: Node) -> str:
    return f"a {node.type.replace('_', ' ')}" if node.is_named else _source(node)[:40]
