"""Anchors of RECOMMENDATIONS.md, and the links to them.

A code host makes a heading's anchor of its text, and two headings can read alike. So each recommendation has an anchor
of its own above its heading: the title and the end of the id, which never changes, in small letters, such as
`bottleneck-agent-agent-writer-in-doc-pipeline-f84283147c`. Where the title has odd signs, it is the id alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from reportgen.model import Recommendation
from reportgen.render.prose import calls_nobody, escape_markdown, plain
from reportgen.render.views import GroupView

_LONGEST = 120
#: What stands in an anchor as it is, whoever reads it: small letters, digits, `-` and `_`, no two `-` side by side.
_AGREED = re.compile(r"[a-z0-9_]+(?:-[a-z0-9_]+)*")


def slug_of(text: str) -> str:
    """Return what code hosts make of a heading's text: lower case, blanks to `-`, other signs dropped."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


class Links:
    """The anchors of all recommendations, and the references that lead to them; all text is Markdown, escaped."""

    def __init__(self, groups: Sequence[GroupView]) -> None:
        self._groups = groups
        titles = Counter(plain(view.group.title).casefold() for view in groups)
        #: Titles that can be the name of their own reference: plain, and no other like it.
        self._own_name = {
            view.group.group
            for view in groups
            if titles[plain(view.group.title).casefold()] == 1
            and _literal(view.group.title) == view.group.title
            and len(view.group.title) <= _LONGEST
        }

    def anchor(self, one: Recommendation | GroupView) -> str:
        """Return the anchor of a finding, or of a group of several, that stands above its heading: HTML."""
        return f'<a id="{self._slug(one)}"></a>'

    def link(self, view: GroupView) -> str:
        """Return the title as a link to its anchor."""
        title = _literal(view.group.title)
        return f"[{title}]" if view.group.group in self._own_name else f"[{title}][{_goal_key(view)}]"

    def definitions(self) -> list[str]:
        """Return a line for each link, sorted by its goal's key: a new recommendation is a new line, and moves none."""
        lines = {}
        for view in self._groups:
            name = view.group.title if view.group.group in self._own_name else _goal_key(view)
            goal = view if len(view.members) > 1 else view.first
            lines[_goal_key(view)] = f"[{name}]: #{self._slug(goal)}"
        return [lines[key] for key in sorted(lines)]

    def _slug(self, one: Recommendation | GroupView) -> str:
        key = _key(one)
        if isinstance(one, GroupView):
            # Without the number of its findings, which changes.
            title, end = f"{one.group.issue} in {one.group.pipeline}", "-".join(key.split("-")[-2:])
        else:
            title, end = one.title, key.rsplit("-", 1)[-1]
        text = plain(f"{title} ({end})")
        slug = slug_of(text)
        return slug if len(text) <= _LONGEST and _AGREED.fullmatch(slug) else slug_of(key)


def _literal(text: str) -> str:
    return calls_nobody(escape_markdown(text))


def _key(one: Recommendation | GroupView) -> str:
    return one.group.group if isinstance(one, GroupView) else one.id


def _goal_key(view: GroupView) -> str:
    return view.group.group if len(view.members) > 1 else view.first.id
