"""Pages without what is there for their authors only: the same to a reader, and to a browser."""

from __future__ import annotations

import html5lib
import pytest

from reportgen.render.lean import lean

TABLE = """<table class="fit"><thead><tr><th>What</th><th class="n">Cost</th></tr></thead>
<tbody>
<tr><th scope="row">a</th><td class="n" title="$1.25">$1</td></tr>
<tr><th scope="row">b</th><td class="n">unknown</td></tr>
</tbody>
</table>"""


def test_a_column_of_numbers_says_once_that_it_is_one() -> None:
    assert lean(TABLE) == (
        '<table class="fit n2"><thead><tr><th>What<th class=n>Cost<tbody>'
        "<tr><th scope=row>a<td title=$1.25>$1<tr><th scope=row>b<td>unknown</table>"
    )


@pytest.mark.parametrize(
    "rows",
    [
        '<tr><td class="n">1</td></tr><tr><td>words</td></tr>',
        '<tr><td class="n" colspan="2">1</td></tr>',
        '<tr><td class="n wide">1</td></tr>',
    ],
)
def test_a_column_that_differs_from_row_to_row_stays_as_it_is(rows: str) -> None:
    made = lean(f"<table><tbody>{rows}</tbody></table>")
    assert made.count("class=") == rows.count("class=")
    assert made.startswith("<table><tbody>")


def test_a_browser_reads_the_same_elements() -> None:
    def shape(text: str) -> list[tuple[str, str]]:
        root = html5lib.parse(text, namespaceHTMLElements=False)
        return [(one.tag, "".join("".join(one.itertext()).split())) for one in root.iter() if isinstance(one.tag, str)]

    assert [one for one in shape(lean(TABLE)) if one[1]] == [one for one in shape(TABLE) if one[1]]
