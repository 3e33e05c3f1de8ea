"""redact.py: every secret of the table goes, ordinary text stays, and a hostile megabyte costs little."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.redact import find_secrets, holding_secrets, redact, redact_hashed

# Put together here so that no scanner takes this file for a leak.
OPENAI = "sk-" + "proj-" + "A1b2C3d4E5f6G7h8"
ANTHROPIC = "sk-" + "ant-api03-" + "abcDEF123456_-xyz"
AWS_ID = "AK" + "IAIOSFODNN7EXAMPLE"
AWS_SECRET = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
GITHUB = "gh" + "p_" + "a1B2" * 9
GITHUB_PAT = "github_" + "pat_" + "11ABCDEFG0abcdefghijkl_" + "a1B2" * 8
GITLAB = "gl" + "pat-" + "aBcD1234efGH5678ijKL"
SLACK = "xo" + "xb-" + "123456789012-abcdefABCDEF"
GOOGLE = "AI" + "za" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"
STRIPE = "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"
NPM = "np" + "m_" + "a1B2" * 9
PYPI = "py" + "pi-" + "AgEIcHlwaS5vcmcCJDU3"
HF = "h" + "f_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ12345678"
JWT = "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PEM = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA " + "PRIVATE KEY-----"

SECRETS = [
    (OPENAI, "[key]"),
    (ANTHROPIC, "[key]"),
    (f"used {OPENAI}, failed", "used [key], failed"),
    (AWS_ID, "[key]"),
    (f"aws_secret_access_key = {AWS_SECRET}", "aws_secret_access_key = [key]"),
    (f"AWS_SECRET_ACCESS_KEY={AWS_SECRET} make", "AWS_SECRET_ACCESS_KEY=[key] make"),
    (GITHUB, "[token]"),
    (f"({GITHUB_PAT})", "([token])"),
    (GITLAB, "[token]"),
    (SLACK, "[token]"),
    (GOOGLE, "[key]"),
    (f"?key={GOOGLE}&q=1", "?key=[key]&q=1"),
    (STRIPE, "[key]"),
    (NPM, "[token]"),
    (PYPI, "[token]"),
    (HF, "[token]"),
    (JWT, "[token]"),
    ("Authorization: Bearer abcdef", "Authorization: Bearer [token]"),
    ("-H 'authorization: bearer abc.def-123'", "-H 'authorization: bearer [token]'"),
    ('{"Authorization": "Bearer s3cr3tvalue"}', '{"Authorization": "Bearer [token]"}'),
    ("Bearer s3cr3tvalue", "Bearer [token]"),
    ("Authorization: Basic am9lOmh1bnRlcjI=", "Authorization: Basic [password]"),
    ("Basic am9lOmh1bnRlcjI=", "Basic [password]"),
    ("password=hunter2", "password=[password]"),
    ("Password: hunter2.", "Password: [password]."),
    ("password = 'correct horse'", "password = '[password]'"),
    ('{"password": "a \\"b\\" c", "n": 1}', '{"password": "[password]", "n": 1}'),
    ('{\\"password\\": \\"hunter2\\"}', '{\\"password\\": \\"[password]\\"}'),
    ("DB_PASSWORD=hunter2 DB_PASS=hunter3", "DB_PASSWORD=[password] DB_PASS=[password]"),
    ("mysql --password hunter2 -v", "mysql --password [password] -v"),
    ("curl --api-key abcd1234", "curl --api-key [key]"),
    ("secret: s3cr3t99", "secret: [key]"),
    ("client_secret=abcdefg&x=1", "client_secret=[key]&x=1"),
    ("access_token=abc123, next", "access_token=[token], next"),
    ("accessToken: 'abcdef'", "accessToken: '[token]'"),
    ("api_key: 12345abcdef", "api_key: [key]"),
    ("X-Api-Key: 12345abcdef", "X-Api-Key: [key]"),
    ("token: secret=abcdefg", "token: secret=[key]"),
    ("https://joe:hunter2@db.example.com/x", "https://joe:[password]@db.example.com/x"),
    ("https://joe:p@ss@example.com/x", "https://joe:[password]@example.com/x"),
    ("postgres://u:secret@db:5432/x", "postgres://u:[password]@db:5432/x"),
    ("redis://:hunter2@cache:6379", "redis://:[password]@cache:6379"),
    (f"before {PEM} after", "before [private key] after"),
    (PEM[:40], "[private key]"),
    ("mail Joe.Doe+x@Example.co.uk.", "mail [e-mail]."),
    ("<joe@example.com>", "<[e-mail]>"),
    ("jörg@büro.example", "[e-mail]"),
    ("git@code.example.org", "[e-mail]"),
    ("owner=joe@example.com", "owner=[e-mail]"),
    ("a.b@c.d@example.com", "a.b@[e-mail]"),
    ("/home/joe/x", "[home]/x"),
    ("in /home/joe:", "in [home]:"),
    ("/Users/ann/src/a.py", "[home]/src/a.py"),
    ("file:///home/joe/x", "file://[home]/x"),
    ("/mnt/c/Users/joe/x", "[home]/x"),
    ("/ro" + "ot/app", "[home]/app"),
    ("C:\\Users\\Joe\\x", "[home]\\x"),
    ("c:\\users\\Joe Doe\\x", "[home]\\x"),
    ("C:\\\\Users\\\\joe\\\\x", "[home]\\\\x"),
    ("C:/Users/joe/x", "[home]/x"),
    ("projects/-home-joe-app/1.jsonl", "projects/[home]-app/1.jsonl"),
]

ORDINARY = [
    "",
    "The writer agent retried 3 times and then gave up.",
    "Unexpected token: punctuation",
    "SyntaxError: unexpected token ';' at 12:7",
    "The password is required and the token has expired.",
    "password: required",
    "password: null, token: none, secret=false",
    "input_tokens=1200 max_tokens: 4096 total_tokens = 99",
    "token: 420",
    "estimated_tokens: 420, tokens: 12",
    "bearer authentication failed",
    "Basic understanding of the basic structure",
    "Basic formatting",
    "a risk-based, task-oriented disk-usage check",
    "pass: 12, fail: 3",
    "PWD=./build and pwd: /srv/app",
    "secretary: Ann; keyboard: us; monkey=brown",
    "3f2a9c1e5b7d4a60f1c2d3e4b5a69788c0d1e2f3",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "550e8400-e29b-41d4-a716-446655440000",
    "run-000123 msg_01ABCdef req_011CSHoEeqs5C35K2UUqR7Fy toolu_01A09q90qw90lq917835lq9",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "2026-03-10T09:14:07.399Z 2026-05-02 09:14:07+02:00 20260502T091407Z",
    "v1.2.3-rc.1+build.5, lodash@4.17.21, react@18.0.0-rc.next, @scope/pkg@1.0.0",
    "icons/logo@2x.png",
    "@reviewer and @writer",
    "git clone git@code.example.org:team/repo.git",
    "/usr/lib/python3/dist-packages /etc/hosts ./src/main.py /srv/home-page /rooted/x",
    "https://example.com/home/about?x=1#top",
    "https://example.com:8080/a@b",
    "C:\\Windows\\System32 and D:\\data",
    "gpt-5-mini, claude-sonnet-4-6, hf_model_name, npm_config_cache, xoxo",
    "docs/pipeline.md | 96/100 | `loop-excess`, tool-fail",
    "5 > 3 and a@b without a dot",
    "Zażółć gęślą jaźń 日本語 \U0001f680",
    "line one\nline two\ttab",
    "[e-mail] [key] [token] [password] [private key] [home]/x [e-mail 3fa2c1] [e-mail 1]",
    "password=[password] token: [token] https://u:[password]@h/x password=[e-mail 3fa2c1]",
]


@pytest.mark.parametrize(("text", "expected"), SECRETS)
def test_a_secret_is_replaced_by_its_label(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert find_secrets(text)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text
    assert redact_hashed(text) == text
    assert find_secrets(text) == []


@pytest.mark.parametrize("text", [text for text, _ in SECRETS])
def test_redacting_twice_changes_nothing(text: str) -> None:
    for first in (redact, redact_hashed):
        once = first(text)
        assert redact(once) == once
        assert redact_hashed(once) == once


def test_secrets_are_distinct_folded_and_in_order() -> None:
    text = "Joe@X.com then /home/Ann/a, joe@x.COM and password=Hunter2"
    assert find_secrets(text) == [("e-mail", "joe@x.com"), ("home", "/home/ann"), ("password", "hunter2")]


def test_hashed_addresses_stay_two_and_ignore_case() -> None:
    digest = hashlib.sha256(b"joe@x.com").hexdigest()[:6]
    assert redact_hashed("ask Joe@X.com") == f"ask [e-mail {digest}]"
    assert redact_hashed("ann@x.com") != redact_hashed("joe@x.com")
    assert redact_hashed("password=hunter2 /home/joe") == "password=[password] [home]"


PIECES = [
    *(text for text, _ in SECRETS),
    *ORDINARY,
    *("@", ".", ":", "/", "\\", '"', "'", " ", "=", "sk-", "password", "a", "1", "]", "[", "-", "\n", "[e-mail]"),
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=8).map("".join))
def test_any_mix_is_stable_after_one_pass(text: str) -> None:
    for first in (redact, redact_hashed):
        once = first(text)
        assert redact(once) == once
        assert redact_hashed(once) == once
    assert bool(find_secrets(text)) == (redact(text) != text)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([OPENAI, ANTHROPIC, AWS_ID, GITHUB, GITLAB, SLACK, GOOGLE, STRIPE, NPM, PYPI, HF, JWT]),
    st.text(" \n\t,;:()[]{}<>\"'|!?=/", max_size=5),
    st.text(" \n\t,;:()[]{}<>\"'|!?=/", max_size=5),
)
def test_a_key_goes_whatever_punctuation_stands_around_it(secret: str, before: str, after: str) -> None:
    assert secret not in redact(f"see{before or ' '}{secret}{after}")


HOSTILE = [
    "a",
    "@",
    "a@",
    "a@a.",
    "a.a@",
    "a@b.cc",
    "git@a",
    "sk-",
    "sk-a1b2c3d4e5f6 ",
    "AKIA",
    "AIza",
    "eyJ",
    "eyJabcdef.",
    "eyJabcdef.eyJabcdef",
    "://",
    "://a:",
    "://a:b",
    "://a:b@",
    "://:",
    "token:",
    "token: ",
    "token=a1b2c3,",
    "token:a",
    'password="',
    'password="\\"',
    "password ",
    "password='x",
    "pass_pass=",
    "--token ",
    "authorization: ",
    "bearer ",
    "basic AAAA",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN ",
    "/home/",
    "/home/a",
    "C:\\Users\\",
    "C:\\Users\\a ",
    "-home-",
    "/-home-a",
    "[password]",
    "hooks.slack.com/services/",
    "ghp_",
    "xoxb-",
    "SG.aaaaaaaaaaaaaaaa.",
    " ",
    "\\",
    '"',
    "\u0130",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_megabyte_takes_linear_time(piece: str) -> None:
    """Four times the text may take about four times as long; a quadratic pattern would take sixteen."""

    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        start = time.process_time()
        find_secrets(text)
        return time.process_time() - start

    small, large = min(seconds(250_000) for _ in range(2)), seconds(1_000_000)
    assert large < 8 * small + 0.2
    assert large < 6


def test_it_imports_little() -> None:
    code = "import sys; import reportgen.redact; print(' '.join(sorted(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"duckdb", "plotly", "jinja2", "click", "msgspec", "markdown_it"} & set(loaded)


@given(st.lists(st.one_of(st.text(max_size=12), st.sampled_from(["password=hunter22", "ann@example.org", "run-7"]))))
def test_texts_looked_at_together_are_found_as_one_by_one(texts: list[str]) -> None:
    assert holding_secrets(texts) == {text for text in texts if find_secrets(text)}
    # More than are looked at together: those that hold nothing hide no other.
    assert holding_secrets(["run-7"] * 250 + texts) == holding_secrets(texts)
