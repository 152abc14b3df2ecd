"""Text is escaped once, and elements close."""

from __future__ import annotations

from counterbc.report.markup import Markup, join, table, tag


def test_text_is_escaped_and_markup_is_not() -> None:
    inner = tag("b", "a < b")
    assert tag("p", "x & y ", inner, class_='"q"') == (
        '<p class="&quot;q&quot;">x &amp; y <b>a &lt; b</b></p>'
    )
    assert join(["<i>", None, inner], " > ") == "&lt;i&gt; &gt; <b>a &lt; b</b>"


def test_a_table_escapes_heads_and_cells() -> None:
    markup = table(("<a>",), [("<b>",)], "<c>")
    assert "&lt;a&gt;" in markup
    assert "&lt;b&gt;" in markup
    assert 'aria-label="&lt;c&gt;"' in markup


def test_empty_elements_close_themselves_and_attributes_get_dashes() -> None:
    assert tag("br") == "<br>"
    assert tag("rect", x=1, aria_label="a", class_=None) == '<rect x="1" aria-label="a"/>'
    assert tag("rect", tag("title", "t")) == "<rect><title>t</title></rect>"
    assert tag("p") == "<p></p>"
    assert isinstance(tag("p"), Markup)
