"""
Write docs/reference from the code: settings, commands, routes and recordings, so that they cannot
disagree.

    python3 dev.py docs            write the pages
    python3 dev.py docs --check    only say which page is out of date (exit status 1)

Everything that depends on the machine (the data folder, the width of a terminal) is kept out.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click import Argument, Command, Context, Group, Parameter

from service.app import create_app
from service.cli import app as command_line
from service.settings import KINDS, Meaning, Settings, variable

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Written by `python3 dev.py docs` from the code. Change the code, not this page. -->\n"

TRAVELS = {"header": "in a header", "basic": "as Basic password"}

Json = dict[str, Any]


# ----------------------------------------------------------------------------- settings


def settings_page() -> str:
    """One row a setting: variable, type, default and meaning."""
    usual = Settings()
    rows = [
        [
            f"`{variable(name)}`",
            type_word(kind),
            default(name, getattr(usual, name)),
            described(meaning),
        ]
        for name, (kind, meaning) in KINDS.items()
    ]
    return "\n".join(
        [
            NOTE,
            "# Settings",
            "",
            "Settings come from the environment; nothing else is read. Commands take some of them as",
            "options too, which win (see [commands](commands.md)).",
            "",
            *table(["variable", "type", "default", "meaning"], rows),
            "",
        ]
    )


def default(name: str, value: object) -> str:
    """Return a default in words; that of the database depends on the machine."""
    if name == "database_url":
        return "a SQLite file, `lastcall.db`, in the user's data folder"
    return "none" if value is None else f"`{text_of(value)}`"


def described(meaning: Meaning) -> str:
    """Return a setting's description with its bounds."""
    bounds = {"at least": meaning.least, "at most": meaning.most}
    said = ", ".join(f"{word} {bound}" for word, bound in bounds.items() if bound is not None)
    return meaning.description + (f" ({said})" if said else "")


def type_word(kind: Any) -> str:
    """Return a type in a reader's words."""
    words: dict[Any, str] = {
        bool: "true or false",
        int: "whole number",
        str: "text",
        Path | None: "path",
    }
    return words[kind]


def text_of(value: object) -> str:
    """Write a default as it would stand in the environment."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# ----------------------------------------------------------------------------- commands


def commands_page() -> str:
    """One section a command, in the order of `lastcall --help`."""
    context = Context(command_line, info_name="lastcall")
    parts = [NOTE, "# Commands", "", "```", command_line.get_usage(context), "```", ""]
    if command_line.help:
        parts += [paragraph(command_line.help), ""]
    for command, inner in below(command_line, context):
        parts += section(command, inner)
    return "\n".join(parts)


def below(group: Group, context: Context) -> Iterator[tuple[Command, Context]]:
    """Yield every command under *group*, groups themselves included."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = Context(command, info_name=name, parent=context)
        yield command, inner
        if isinstance(command, Group):
            yield from below(command, inner)


def section(command: Command, context: Context) -> list[str]:
    """One command: usage, help, arguments and options."""
    parts = [f"## `{context.command_path}`", "", "```", command.get_usage(context), "```", ""]
    if command.help:
        parts += [paragraph(command.help), ""]
    rows = [row for parameter in command.params if (row := parameter_row(parameter, context))]
    if rows:
        parts += [*table(["", "default", "meaning"], rows), ""]
    return parts


def parameter_row(parameter: Parameter, context: Context) -> list[str] | None:
    """One argument or option; None for one that is hidden or on every command."""
    if getattr(parameter, "hidden", False) or parameter.name == "help":
        return None
    if isinstance(parameter, Argument):
        spelled = f"`{parameter.make_metavar(context)}`"
    else:
        spelled = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    value = parameter.to_info_dict()["default"]
    shown = "" if value is None or value is False or callable(value) else f"`{text_of(value)}`"
    if parameter.required:
        shown = "required"
    return [spelled, shown, paragraph(parameter.help or "")]


def paragraph(text: str) -> str:
    r"""Join the lines of each paragraph; `\b` keeps a block as it is in a terminal, so do we."""
    blocks = []
    for block in text.strip().split("\n\n"):
        if block.startswith("\b"):
            blocks.append("```\n" + block.removeprefix("\b").strip("\n") + "\n```")
        else:
            blocks.append(" ".join(line.strip() for line in block.splitlines()))
    return "\n\n".join(blocks)


# ----------------------------------------------------------------------------- REST


def rest_page() -> str:
    """One section a route, from the OpenAPI document."""
    with TemporaryDirectory() as folder:
        document = create_app(Settings(database_url=f"sqlite:///{folder}/empty.db")).openapi()
    parts = [
        NOTE,
        "# REST",
        "",
        "The same as an OpenAPI document: `/openapi.json` of a running service. Errors are",
        "`application/problem+json` and say what would succeed. Once there is a [token](../guides/access.md), every",
        "request shows one (`Authorization: Bearer …`): 401 without, 403 where it may not. Questions need the scope",
        "`read`, but for the audit and rejected records; what tells or takes back needs `admin`, deliveries `ingest`.",
        "",
    ]
    for path, item in document["paths"].items():
        for method, operation in item.items():
            parts += route(document, method, path, operation)
    return "\n".join(parts)


def route(document: Json, method: str, path: str, operation: Json) -> list[str]:
    """One route: what it answers, its parameters and its statuses."""
    parts = [f"## `{method.upper()} {path}`", ""]
    parts += [text.strip() + "\n" for text in (operation.get("description"),) if text]
    rows = [
        [
            f"`{one['name']}`",
            one["in"] + (", required" if one.get("required") else ""),
            schema_word(document, one["schema"]),
            " ".join(one.get("description", "").split()),
        ]
        for one in operation.get("parameters", [])
    ]
    if rows:
        parts += [*table(["parameter", "in", "type", "meaning"], rows), ""]
    if columns := fields_of(document, operation):
        parts += [f"Each row has {', '.join(f'`{name}`' for name in columns)}.", ""]
    answers = ", ".join(
        f"{status} {answer.get('description', '')}".strip()
        for status, answer in operation.get("responses", {}).items()
    )
    return [*parts, f"Answers: {answers}.", ""] if answers else parts


def fields_of(document: Json, operation: Json) -> list[str]:
    """Return the fields of the rows of a collection, in their order; none where it is none."""
    content = operation.get("responses", {}).get("200", {}).get("content", {})
    schema = resolved(document, content.get("application/json", {}).get("schema", {}))
    items = schema.get("properties", {}).get("items", {}).get("items", {})
    return list(resolved(document, items).get("properties", {}))


def resolved(document: Json, schema: Json) -> Json:
    """Follow a reference to the part of the document that it names."""
    if "$ref" not in schema:
        return schema
    found: Json = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
    return found


def schema_word(document: Json, schema: Json) -> str:
    """Return a parameter's type, bounds and default in a few words."""
    schema = resolved(document, schema)
    if "anyOf" in schema:
        options = [one for one in schema["anyOf"] if one.get("type") != "null"]
        word = " or ".join(schema_word(document, one) for one in options)
    elif "enum" in schema:
        word = ", ".join(f"`{value}`" for value in schema["enum"])
    elif schema.get("type") == "array":
        word = "list of " + schema_word(document, schema.get("items", {}))
    else:
        word = str(schema.get("format") or schema.get("type") or "any")
    bounds = [
        f"{sign} {schema[name]}"
        for name, sign in (("minimum", "≥"), ("maximum", "≤"), ("maxItems", "at most"))
        if name in schema
    ]
    if schema.get("default") not in (None, []):
        bounds.append(f"default `{text_of(schema['default'])}`")
    return ", ".join([word, *bounds])


# ----------------------------------------------------------------------------- shippers


def shippers_page() -> str:
    """How log shippers are received, how some are set up, and what was seen of those that were recorded."""
    sys.path.insert(0, str(ROOT))  # the senders and the recordings lie with the tests
    from dashboards.shippers import shippers
    from tests.captures import runs
    from tests.senders import kinds

    examples = table(
        ["shipper", "file", "its token travels", "while the service is away"],
        [
            [
                each.title,
                f"[{each.file}](../../examples/shippers/{each.file})",
                TRAVELS[each.token],
                each.keeps,
            ]
            for each in shippers().values()
        ],
    )
    senders = table(["sender", "set up with", "lost of 1,000", "since"], kinds.table())
    heads = ["client", "endpoint", "after 503", "after 4xx", "after a lost answer", "stored"]
    text = (FOLDER.parent / "shippers.in.md").read_text(encoding="utf-8")
    text = text.replace("{examples}", "\n".join(examples))
    text = text.replace("{senders}", "\n".join(senders))
    return f"{NOTE}\n{text}" + "\n".join([*table(heads, runs.table()), ""])


# ----------------------------------------------------------------------------- pages


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in [heads, *cells]]
    return [lines[0], "|" + "---|" * len(heads), *lines[1:]]


def pages() -> dict[str, str]:
    """Return each page's file name and text."""
    return {
        "settings.md": settings_page(),
        "commands.md": commands_page(),
        "rest.md": rest_page(),
        "shippers.md": shippers_page(),
    }


def main() -> int:
    """Write what has changed, or with `--check` say so; return the exit status."""
    check = "--check" in sys.argv[1:]
    stale = 0
    for name, text in pages().items():
        path = FOLDER / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(("out of date: " if check else "wrote ") + f"docs/reference/{name}")
        if not check:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
