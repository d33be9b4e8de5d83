"""Strangers' text in Markdown, read by a renderer of CommonMark."""

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from service.analysis.markdown import code

READER = MarkdownIt("commonmark", {"html": True})


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "![x](javascript:alert(1))",
        "[x](http://example.org)",
        "`a` <b>b</b> `",
        "``` <b>",
        "**bold** _it_ # - 1. > |",
        "<!-- -->",
        "<http://example.org>",
        "&lt;b&gt; &amp;",
        "\\`<b>\\`",
    ],
)
@pytest.mark.parametrize("before", ["", "- ", "word ", "> ", "# "])
def test_markup_in_a_code_span_stays_text(text: str, before: str) -> None:
    """Wherever the span stands."""
    html = READER.render(f"{before}{code(text)} end")
    assert f"<code>{escape(text)}</code>" in html
    assert html.count("<code>") == 1


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Zl", "Zp", "Cs", "Zs")), min_size=1))
def test_any_text_that_can_be_seen_is_read_as_it_was(text: str) -> None:
    """Backticks of any number among them."""
    tokens = READER.parseInline(f"x {code(text)} x")[0].children or []
    assert [(token.type, token.content) for token in tokens] == [
        ("text", "x "),
        ("code_inline", text),
        ("text", " x"),
    ]


@given(st.text())
def test_no_text_leaves_its_line_or_its_span(text: str) -> None:
    """Line breaks, control characters, white space and nothing at all."""
    tokens = READER.parseInline(f"x {code(text)} x")[0].children or []
    assert [token.type for token in tokens] == ["text", "code_inline", "text"]
