"""The shapes of answers for OpenAPI, made from the rows that `answers` returns."""

from dataclasses import MISSING, fields
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from service.answers.paging import data_changed
from service.answers.query import Absent, CoverageSummary, Instant, Range

InstantText = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]


class Problem(BaseModel):
    """Why a request was refused, and what would succeed (RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "about:blank",
                "title": "Parameter out of range",
                "status": 422,
                "detail": "limit: must be a whole number from 1 to 1000",
                "parameter": "limit",
            }
        }
    )

    type: str
    title: str
    status: int
    detail: str
    parameter: Annotated[str | None, Field(description="which parameter, if it was one")] = None


_MODELS: dict[type, type[BaseModel]] = {}


def model_of(row: type) -> type[BaseModel]:
    """The model of a frozen row: every member required, but those that may be absent."""
    if row not in _MODELS:
        hints = get_type_hints(row)
        members: dict[str, Any] = {}
        for member in fields(row):
            optional = member.default is not MISSING
            members[member.name] = (_type_of(hints[member.name]), None if optional else ...)
        _MODELS[row] = create_model(
            row.__name__,
            __doc__=row.__doc__,
            __config__=ConfigDict(
                extra="forbid", json_schema_serialization_defaults_required=False
            ),
            **members,
        )
    return _MODELS[row]


def _type_of(hint: Any) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Instant:
        return InstantText
    if origin in (Union, UnionType):
        kept = tuple(_type_of(one) for one in arguments if one is not Absent)
        return Union[kept]  # noqa: UP007 - a union of a tuple has no other form
    if origin is tuple:
        kinds = tuple(_type_of(each) for each in arguments if each is not ...)
        one: Any = Union[kinds]  # noqa: UP007
        return list[one]
    if hasattr(hint, "__dataclass_fields__"):
        return model_of(hint)
    return hint


def page_of(name: str, row: type, **more: Any) -> type[BaseModel]:
    """The model of a collection of these rows, with further members beside its own."""
    item: Any = model_of(row)
    members: dict[str, Any] = {
        "items": (list[item], ...),
        "next_cursor": (str | None, ...),
        "range": (model_of(Range), ...),
        "as_of": (InstantText, ...),
        "coverage": (model_of(CoverageSummary), ...),
        "generated_at": (InstantText, ...),
        **{key: (_type_of(hint), ...) for key, hint in more.items()},
    }
    return create_model(name, __config__=ConfigDict(extra="forbid"), **members)


def single_of(name: str, row: type) -> type[BaseModel]:
    """The model of an answer that is one thing."""
    members: dict[str, Any] = {
        "range": (model_of(Range), ...),
        "as_of": (InstantText, ...),
        "coverage": (model_of(CoverageSummary), ...),
        "generated_at": (InstantText, ...),
    }
    return create_model(name, __base__=model_of(row), __config__=None, **members)


def problem(description: str, example: dict[str, Any] | None = None) -> dict[str, Any]:
    """One refusal in the form that OpenAPI wants."""
    schema = Problem.model_json_schema()
    shown = example or schema["example"]
    return {
        "description": description,
        "content": {"application/problem+json": {"schema": schema, "example": shown}},
    }


_CHANGED = data_changed()
CONFLICT = problem(
    "The rows are sorted by a value that changes, or are the first N (`top`), and the data changed "
    "since the first page",
    {
        "type": "about:blank",
        "title": _CHANGED.title,
        "status": _CHANGED.status,
        "detail": _CHANGED.detail,
    },
)
PROBLEMS: dict[int | str, dict[str, Any]] = {
    422: problem("A parameter cannot be used; `detail` names what would succeed"),
    503: problem("The database cannot be used now"),
}


def body(schema: dict[str, Any], example: Any) -> dict[str, Any]:
    """What a route that reads its body itself says of it."""
    content = {"application/json": {"schema": schema, "example": dict(example)}}
    return {"requestBody": {"required": True, "content": content}}


def kept(example: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """The responses of a route that keeps what it is told."""
    return {
        200: {"content": {"application/json": {"example": example}}},
        413: problem("The body is too large; nothing was stored"),
        422: problem("The body cannot be read, or a member cannot be used"),
        503: problem("The database cannot take it now; nothing was stored, send it again"),
    }


def example(items: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A whole answer around some rows."""
    return {
        "items": items,
        "next_cursor": None,
        "range": {
            "since": "2026-10-01T00:00:00.000Z",
            "until": "2026-10-06T00:00:00.000Z",
            "tz": "UTC",
        },
        "as_of": "2026-10-06T00:00:00.000Z",
        "coverage": {
            "covered_hours": 108,
            "hours": 120,
            "gaps": [
                {
                    "server": "maps",
                    "source": "files",
                    "since": "2026-10-03T02:00:00.000Z",
                    "until": "2026-10-03T14:00:00.000Z",
                }
            ],
            "gap_count": 1,
            "servers": [
                {
                    "server": "maps",
                    "covered_hours": 108,
                    "heard_since": "2026-09-01T04:00:00.000Z",
                }
            ],
            "server_count": 1,
        },
        "generated_at": "2026-10-06T00:00:00.000Z",
        **more,
    }


def documented(
    answer: dict[str, Any], *, conflict: bool = False
) -> dict[int | str, dict[str, Any]]:
    """The responses of a collection's route; *conflict* where its pages can fall out of date."""
    return {
        200: {
            "description": "The rows that were asked for",
            "content": {
                "application/json": {"example": answer},
                "text/csv": {"schema": {"type": "string"}},
            },
        },
        304: {"description": "Nothing has changed since the tag in If-None-Match"},
        **({409: CONFLICT} if conflict else {}),
        **PROBLEMS,
    }
