"""HTML from nested calls."""

from __future__ import annotations

from counterbc.report.markup import join, table, tag


def test_text_is_escaped_and_markup_is_not() -> None:
    assert tag("p", "a < b", tag("b", "&")) == "<p>a &lt; b<b>&amp;</b></p>"
    assert tag("p", title='"x"') == '<p title="&quot;x&quot;"></p>'


def test_attributes_lose_their_underscores_and_none_is_left_out() -> None:
    assert tag("line", class_="a", aria_label="b", x=None) == '<line class="a" aria-label="b"/>'
    assert tag("br") == "<br>"


def test_parts_are_joined_without_none() -> None:
    assert join(["a", None, "b"], " & ") == "a &amp; b"


def test_a_table_has_a_head_and_row_headers() -> None:
    text = table(("name", "n"), [("a", 1)], "Names")
    assert '<th scope="col">n</th>' in text
    assert '<tr><th scope="row">a</th><td>1</td></tr>' in text
    assert 'aria-label="Names"' in text
