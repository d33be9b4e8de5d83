"""The API's reference as one plain page made from the OpenAPI document. It loads nothing."""

import json
from html import escape
from typing import Any

_METHODS = ("get", "post", "put", "patch", "delete")


def page(document: dict[str, Any]) -> str:
    """Render an OpenAPI document as HTML without style, script or any other file."""
    operations = [
        _operation(path, method, verbs[method])
        for path, verbs in document["paths"].items()
        for method in _METHODS
        if method in verbs
    ]
    title = escape(document["info"]["title"])
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}: API</title>\n</head>\n<body>\n<main>\n<h1>{title}: API</h1>\n"
        '<p>The same as a document for tools: <a href="openapi.json">openapi.json</a>. Errors are '
        "problem+json and say what would succeed.</p>\n"
        f"{''.join(operations)}</main>\n</body>\n</html>\n"
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    heading = f"<h2><code>{method.upper()} {escape(path)}</code></h2>\n"
    summary = f"<p><strong>{escape(operation.get('summary', ''))}.</strong></p>\n"
    description = f"<p>{escape(operation.get('description', ''))}</p>\n"
    return f"<section>\n{heading}{summary}{description}{_parameters(operation)}{_answers(operation)}</section>\n"


def _parameters(operation: dict[str, Any]) -> str:
    rows = [
        f"<tr><th scope=row><code>{escape(parameter['name'])}</code></th>"
        f"<td>{escape(parameter.get('description', parameter['schema'].get('description', '')))}</td>"
        f"<td>{escape(_default(parameter['schema']))}</td></tr>\n"
        for parameter in operation.get("parameters", [])
    ]
    if not rows:
        return ""
    head = (
        "<tr><th scope=col>Parameter</th><th scope=col>Meaning</th><th scope=col>Default</th></tr>"
    )
    return f"<table>\n<thead>{head}</thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n"


def _default(schema: dict[str, Any]) -> str:
    value = schema.get("default")
    return "" if value is None else json.dumps(value).strip('"')


def _answers(operation: dict[str, Any]) -> str:
    parts = []
    for status, answer in operation["responses"].items():
        parts.append(f"<dt>{escape(status)}</dt><dd>{escape(answer['description'])}")
        for kind, content in answer.get("content", {}).items():
            if "example" in content and status == "200":
                text = json.dumps(content["example"], indent=2, ensure_ascii=False)
                parts.append(f"<p>{escape(kind)}</p><pre>{escape(text)}</pre>")
        parts.append("</dd>\n")
    return f"<dl>\n{''.join(parts)}</dl>\n"
