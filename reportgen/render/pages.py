"""From a template to a page: the only room that knows jinja2.

Autoescape is always on, whatever a template is called. Templates run in a sandbox, because a project may bring its
own. What is printed has its control characters dropped and its invisible ones shown, so that no text of an input can
hide, reorder or break what stands around it.
"""

from __future__ import annotations

import hashlib
import json
import marshal
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from traceback import walk_tb
from types import CodeType
from typing import Any, ClassVar

import jinja2
from jinja2 import (
    BytecodeCache,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.bccache import Bucket
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup, escape

from reportgen import compiled
from reportgen.compiled import key_of
from reportgen.errors import ReportgenError
from reportgen.render.prose import visible
from reportgen.resources import resource_dir

__all__ = ["Environment", "Markup", "environment", "escape", "fill", "json_for_script", "search_path"]


def search_path(template_dirs: Sequence[Path] = ()) -> list[Path]:
    """Return where templates and assets are looked for: the project's folders first, then the built-in one."""
    return [*template_dirs, resource_dir("templates")]


class _Bucket(Bucket):
    """What is compiled from one template. `source`: its file, where it comes with reportgen; `kept`: its key there."""

    source: Path | None = None
    kept: bytes = b""


class _Compiled(BytecodeCache):
    """Keeps what was compiled: compiling takes longer than filling.

    A project's templates are kept for the next environment of this process only: code that is loaded from a file runs
    outside the sandbox. Built-in ones are kept beside their files, for the next process.
    """

    _kept: ClassVar[dict[bytes, CodeType]] = {}

    def get_bucket(self, environment: jinja2.Environment, name: str, filename: str | None, source: str) -> Bucket:
        """Return what is known for this text of a template."""
        # What is printed of constants is worked out when a template is compiled, by `finalize` and by our own filters.
        how = f"{environment.autoescape} {getattr(environment.finalize, '__qualname__', '')}"
        key = key_of(_own_code(), jinja2.__version__, how, name, filename or "", source)
        bucket = _Bucket(environment, key.hex(), self.get_source_checksum(source))
        bucket.kept = key
        path = None if filename is None else Path(filename)
        bucket.source = path if path is not None and path.parent == resource_dir("templates") else None
        self.load_bytecode(bucket)
        return bucket

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give the code of the same template text, if it was compiled before."""
        assert isinstance(bucket, _Bucket)
        bucket.code = self._kept.get(bucket.kept)
        if bucket.code is None and bucket.source is not None:
            data = compiled.read(bucket.source, bucket.kept)
            bucket.code = None if data is None else marshal.loads(data)  # noqa: S302 - beside our own code, and whole

    def warm(self, environment: jinja2.Environment) -> None:
        """Read what is kept of the built-in templates, for the environments that follow."""
        for path in sorted(resource_dir("templates").glob("*.html")):
            bucket = self.get_bucket(environment, path.name, str(path), path.read_text(encoding="utf-8"))
            if bucket.code is not None:
                self._kept[bytes.fromhex(bucket.key)] = bucket.code

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of this template text."""
        assert isinstance(bucket, _Bucket)
        assert bucket.code is not None
        self._kept[bucket.kept] = bucket.code
        if bucket.source is not None:
            compiled.write(bucket.source, bucket.kept, marshal.dumps(bucket.code))


@lru_cache(maxsize=1)
def _own_code() -> bytes:
    """Return a hash over the code of this package: some of it runs when a template is compiled."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


class Environment(ImmutableSandboxedEnvironment):
    """The sandbox, which finds out only once whether an attribute is safe: a third of the time of a page goes there.

    Jinja2 decides by the kind of object and the attribute's name alone.
    """

    _MOST = 10_000

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - as jinja2 takes them
        super().__init__(**options)
        self._found_safe: dict[tuple[type, str], bool] = {}

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        """Say whether a template may read this attribute."""
        key = (type(obj), attr)
        safe = self._found_safe.get(key)
        if safe is None:
            safe = super().is_safe_attribute(obj, attr, value)
            if len(self._found_safe) < self._MOST:
                self._found_safe[key] = safe
        return safe


def environment(template_dirs: Sequence[Path] = ()) -> Environment:
    """Return an environment whose project templates (by file name) stand in for the built-in ones.

    An undefined name is an error, never an empty text. Add filters and globals to what is returned.
    """
    return Environment(
        loader=FileSystemLoader([str(folder) for folder in search_path(template_dirs)]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_readable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        bytecode_cache=_Compiled(),
    )


def warm() -> None:
    """Get ready for the first page: may be called in another thread."""
    _Compiled().warm(environment())


def fill(env: Environment, template: str, values: Mapping[str, object]) -> str:
    """Return the template filled with the values.

    Raises ReportgenError, with the template's file and line, where the template is missing or wrong.
    """
    try:
        return env.get_template(template).render(values)
    except TemplateNotFound as error:
        raise ReportgenError(str(error.name), "the template is missing", "Put it back, or install again.") from error
    except TemplateSyntaxError as error:
        where = f"{error.filename or error.name or template}:{error.lineno}"
        raise ReportgenError(where, str(error.message), "Mend the template.") from error
    except (TemplateError, TypeError, AttributeError, KeyError, ValueError, ArithmeticError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}".rstrip(".")
        raise ReportgenError(_place(error, template), what, "Mend the template, or remove it.") from error


def json_for_script(data: object) -> Markup:
    """Return JSON that may stand inside a script element: ASCII only, and nothing that could end the element."""
    text = json.dumps(data, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)
    # The element ends, or a comment begins, only with this character.
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - escaped above, for where it stands


def _readable(value: object) -> object:
    """Prepare what an expression prints; None is never printed: unknown has a word of its own."""
    if value is None:
        raise TypeError("an unknown value would be printed as None")
    # Markup was made from parts that came this way, or by `to_html`, which sees to it itself.
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _place(error: BaseException, template: str) -> str:
    """Return `file:line` of the innermost template line the error passed through."""
    place = template
    for frame, line in walk_tb(error.__traceback__):
        if "__jinja_template__" in frame.f_globals or frame.f_code.co_filename.endswith((".html", ".j2")):
            place = f"{frame.f_code.co_filename}:{line}"
    return place
