"""The API's reference as one page made from the OpenAPI document. It runs nothing."""

import json
import re
from html import escape
from typing import Any

_METHODS = ("get", "post", "put", "patch", "delete")


def page(document: dict[str, Any]) -> str:
    """Render an OpenAPI document as HTML without scripts, in the style of the pages, with a list of what there is."""
    operations = [
        (path, method, verbs[method])
        for path, verbs in document["paths"].items()
        for method in _METHODS
        if method in verbs
    ]
    title = escape(document["info"]["title"])
    contents = "".join(
        f'<li><a href="#{_place(path, method)}"><code>{method.upper()} {escape(path)}</code></a></li>\n'
        for path, method, _ in operations
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}: API</title>\n"
        '<link rel="icon" href="static/icon.svg"><link rel="stylesheet" href="static/site.css">\n'
        f'</head>\n<body>\n<main>\n<p class="crumbs"><a href="./">{title}</a> / API</p>\n'
        f"<h1>{title}: API</h1>\n"
        '<p>The same as a document for tools: <a href="openapi.json">openapi.json</a>. Errors are '
        "problem+json and say what would succeed.</p>\n"
        f'<nav aria-label="Contents"><ul>\n{contents}</ul></nav>\n'
        f"{''.join(_operation(*each) for each in operations)}</main>\n</body>\n</html>\n"
    )


def _place(path: str, method: str) -> str:
    """The fragment of an operation's address."""
    return f"{method}-{re.sub('[^A-Za-z0-9]+', '-', path).strip('-')}"


def _prose(text: str) -> str:
    """Text with its names of parameters and values set as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    called = f"{method.upper()} {escape(path)}"
    heading = f"<h2><code>{called}</code></h2>\n"
    summary = f"<p><strong>{_prose(operation.get('summary', ''))}.</strong></p>\n"
    told = operation.get("description", "").split("\n\n")
    description = "".join(f"<p>{_prose(each)}</p>\n" for each in told if each)
    return (
        f'<section id="{_place(path, method)}">\n{heading}{summary}{description}'
        f"{_parameters(operation, called)}{_answers(operation)}</section>\n"
    )


def _parameters(operation: dict[str, Any], called: str) -> str:
    rows = [
        f"<tr><th scope=row><code>{escape(parameter['name'])}</code></th>"
        f"<td>{_prose(parameter.get('description', parameter['schema'].get('description', '')))}</td>"
        f"<td>{escape(_default(parameter['schema']))}</td></tr>\n"
        for parameter in operation.get("parameters", [])
    ]
    if not rows:
        return ""
    head = (
        "<tr><th scope=col>Parameter</th><th scope=col>Meaning</th><th scope=col>Default</th></tr>"
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Parameters of {called}">'
        f"<table>\n<thead>{head}</thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table></div>\n"
    )


def _default(schema: dict[str, Any]) -> str:
    value = schema.get("default")
    return "" if value in (None, []) else json.dumps(value).strip('"')


def _answers(operation: dict[str, Any]) -> str:
    parts = []
    for status, answer in operation["responses"].items():
        parts.append(f"<dt>{escape(status)}</dt><dd>{_prose(answer['description'])}")
        for kind, content in answer.get("content", {}).items():
            if "example" in content and status == "200":
                text = json.dumps(content["example"], indent=2, ensure_ascii=False)
                parts.append(f'<p>{escape(kind)}</p><pre tabindex="0">{escape(text)}</pre>')
        parts.append("</dd>\n")
    return f"<dl>\n{''.join(parts)}</dl>\n"
