"""What must never reach a page, a log or a message: keys, passwords, e-mail addresses, home directories (SPEC 8).

One table, `_TABLE`, says what a secret looks like. Every pattern is linear: it starts only where a run of its own
characters starts, takes the whole run, and never tries a run twice, so a hostile megabyte costs a fraction of a
second. Standard library only, and nothing is compiled before it is needed: `reportgen heal` imports this.

Labels: `e-mail`, `key`, `token`, `password`, `private key`, `home`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache

#: A found secret: first and last offset (the last excluded), and the label that is written in its place.
Span = tuple[int, int, str]

_LABELS = r"(?:e-mail|key|token|password|private[ ]key|home)"
#: No letter or digit stands before: together with greedy runs this keeps the search linear.
_START = r"(?<![A-Za-z0-9])"
#: Characters of an e-mail address before the `@`.
_LOCAL = r"[\w.%+-]"


def _mixed(secret: str) -> bool:
    """Tell a random key from a hyphenated word: digits and letters, or twenty characters without a hyphen."""
    has_digit = any(c.isdigit() for c in secret)
    has_letter = any(c.isalpha() for c in secret)
    return (has_digit and has_letter) or any(len(part) >= 20 for part in re.split(r"[-_]", secret))


def _credentials(secret: str) -> bool:
    """Say whether base64 text holds `user:password`, as after the word Basic; an English word does not."""
    import base64
    import binascii

    head = secret[:1024]
    try:
        plain = base64.b64decode(head[: len(head) // 4 * 4], validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain and plain.isascii() and plain.decode("ascii").isprintable()


def _bearer(secret: str) -> bool:
    """Tell a token after the word Bearer from an English word: a digit in it, or twenty characters."""
    return len(secret) >= 20 or any(c.isdigit() for c in secret)


#: How keys and tokens begin that need no rule of their own: their makers chose these letters so that they are found.
_PREFIXES = (
    "pplx-", "pcsk_", "lsv2_pt_", "lsv2_sk_", "tvly-", "nvapi-", "csk-", "fw_", "ABSK", "GOCSPX-", "EAACEdEose0cBA",
    "sq0atp-", "sq0csp-", "shpat_", "shpss_", "shpca_", "shppa_", "xkeysib-", "rubygems_", "dckr_pat_", "dckr_oat_",
    "doo_v1_", "dor_v1_", "HRKU-", "nfp_", "rnd_", "fm1_", "fm2_", "fo1_", "sbp_", "sb_secret_", "pscale_tkn_",
    "pscale_pw_", "pscale_oauth_", "lin_api_", "lin_oauth_", "ntn_", "PMAK-", "figd_", "glsa_", "glc_", "NRAK-",
    "NRJS-", "sntryu_", "sntrys_", "dt0c01.", "dt0s01.", "ATATT3", "ATCTT3", "ATBB", "hvs.", "hvb.", "hvr.", "dp.pt.",
    "dp.st.", "pul-", "bkua_", "CCIPAT_", "sqp_", "squ_", "sqa_", "sgp_", "tskey-", "AGE-SECRET-KEY-1", "glrt-",
    "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-",
)  # fmt: skip
_ANY_PREFIX = "|".join(re.escape(prefix) for prefix in _PREFIXES)

#: label; words that must be in the lower-cased text for the pattern to be tried; pattern (its group `secret`, where it
#: has one, is what is replaced); a last check on the secret, or None. Case counts unless the pattern says otherwise.
_TABLE: tuple[tuple[str, tuple[str, ...], str, Callable[[str], bool] | None], ...] = (
    # PEM blocks; a block that is cut off is secret to the end of the text.
    (
        "private key",
        ("private key",),
        r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        None,
    ),
    # scheme://user:PASSWORD@host; with one slash left where the address went through a path
    (
        "password",
        (":/",),
        r"(?:://|(?<=[A-Za-z][A-Za-z0-9]):/)[^\s/:@\"'<>]{0,256}"
        r":(?P<secret>(?!\[password(?: [0-9]+)?\]@)[^\s/\"'<>]+)@",
        None,
    ),
    # OpenAI, Anthropic, OpenRouter: sk-…, sk-ant-…, sk-proj-…
    ("key", ("sk-",), _START + r"sk-(?:ant|proj|or|svcacct|admin|live|test)-[A-Za-z0-9_-]{6,}", None),
    ("key", ("sk-",), _START + r"sk-[A-Za-z0-9_-]{12,}", _mixed),
    # Groq, xAI, Replicate
    ("key", ("gsk_", "xai-", "r8_"), _START + r"(?:gsk_|xai-|r8_)[A-Za-z0-9]{20,}", None),
    # AWS access key ids
    (
        "key",
        ("akia", "asia", "aroa", "aida", "agpa", "abia", "acca"),
        _START + r"(?:A(?:KIA|SIA|ROA|IDA|GPA|BIA|CCA))[A-Z0-9]{16,}[A-Za-z0-9]*",
        None,
    ),
    # Google API keys and OAuth tokens
    ("key", ("aiza",), _START + r"AIza[A-Za-z0-9_-]{30,}", None),
    ("token", ("ya29.",), _START + r"ya29\.[A-Za-z0-9_-]{20,}", None),
    # Stripe secret, restricted and webhook keys
    ("key", ("k_live_", "k_test_", "whsec_"), _START + r"(?:[srp]k_(?:live|test)_|whsec_)[A-Za-z0-9]{8,}", None),
    # GitHub, GitLab, Slack, npm, PyPI, Hugging Face, DigitalOcean, SendGrid
    ("token", ("gh",), _START + r"gh[pousr]_[A-Za-z0-9_]{20,}", None),
    ("token", ("github_pat_",), _START + r"github_pat_[A-Za-z0-9_]{20,}", None),
    ("token", ("glpat-", "glptt-", "gldt-", "glcbt-"), _START + r"gl(?:pat|ptt|dt|cbt)-[A-Za-z0-9_.-]{12,}", None),
    ("token", ("xox", "xapp-"), _START + r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}", None),
    ("token", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_-]{8,})", None),
    ("token", ("npm_",), _START + r"npm_[A-Za-z0-9]{30,}", None),
    ("token", ("pypi-",), _START + r"pypi-[A-Za-z0-9_-]{16,}", _mixed),
    ("token", ("hf_",), _START + r"hf_[A-Za-z0-9]{20,}", None),
    ("token", ("dop_v1_",), _START + r"dop_v1_[A-Za-z0-9]{20,}", None),
    # What has a beginning of its own, with what a dot or an equals sign ties to it
    (
        "key",
        tuple(prefix.lower() for prefix in _PREFIXES),
        _START + rf"(?:{_ANY_PREFIX})[A-Za-z0-9_-]{{16,}}+(?:[.=][A-Za-z0-9_-]++)*+",
        _mixed,
    ),
    # Databricks, Mailgun, Mailchimp, Twilio, crates.io, Airtable, Terraform, Resend, Alibaba, Azure: letters that words
    # have too, so that the length and the alphabet tell
    ("key", ("dapi", "key-", "sk"), _START + r"(?:dapi|key-|SK)[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9])", None),
    ("key", ("-us",), _START + r"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])", None),
    ("token", ("cio",), _START + r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", _mixed),
    ("token", ("pat",), _START + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![A-Za-z0-9])", None),
    ("token", (".atlasv1.",), _START + r"[A-Za-z0-9]{10,20}\.atlasv1\.[A-Za-z0-9_=-]{40,}", None),
    ("key", ("re_",), _START + r"re_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,}", _mixed),
    ("key", ("ltai",), _START + r"LTAI[A-Za-z0-9]{12,30}(?![A-Za-z0-9])", _mixed),
    ("key", ("q~",), r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_.-]{3,8}Q~[A-Za-z0-9_~.-]{30,}", None),
    ("token", ("sig=",), r"[?&]sig=(?P<secret>[A-Za-z0-9%/+_-]{20,}=*)", None),
    # Bots and webhooks of Telegram and Discord
    ("token", (":aa",), _START + r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}", None),
    ("token", ("/webhooks/",), r"discord(?:app)?\.com/api/webhooks/(?P<secret>[A-Za-z0-9/_-]{8,})", None),
    ("token", (".",), _START + r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}", _mixed),
    ("key", ("sg.",), _START + r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", None),
    # JSON Web Tokens: header.payload.signature, the first two starting with base64 of `{"`
    ("token", ("eyj",), _START + r"eyJ[A-Za-z0-9_-]{5,}+\.eyJ[A-Za-z0-9_-]{5,}+(?:\.[A-Za-z0-9_-]*+)?", None),
    # Authorization headers; the bare words Bearer and Basic only before what looks like a credential.
    (
        "token",
        ("authorization",),
        r"(?i)authorization[\"'\\]{0,4}[ \t]{0,8}[:=][ \t]{0,8}[\"'\\]{0,4}"
        r"(?:bearer|token|apikey|digest)[ \t]{1,8}(?P<secret>[A-Za-z0-9._~+/=-]{3,})",
        None,
    ),
    (
        "password",
        ("authorization",),
        r"(?i)authorization[\"'\\]{0,4}[ \t]{0,8}[:=][ \t]{0,8}[\"'\\]{0,4}"
        r"basic[ \t]{1,8}(?P<secret>[A-Za-z0-9+/=_-]{3,})",
        None,
    ),
    ("token", ("bearer",), _START + r"(?i:bearer)[ \t]{1,8}(?P<secret>[A-Za-z0-9._~+/=-]{8,})", _bearer),
    ("password", ("basic",), _START + r"(?i:basic)[ \t]{1,8}(?P<secret>[A-Za-z0-9+/=]{8,})", _credentials),
    # E-mail addresses. Not package@1.2.3, icon@2x.png or git@host:path. What is glued on behind belongs to it.
    (
        "e-mail",
        ("@",),
        rf"(?<!{_LOCAL})(?!git@[\w.-]++:){_LOCAL}++@(?!\d+\.\d|\d+x\.)(?:[\w-]++\.)+[^\W\d_]{{2,}}+(?:[.@%+-]*+\w++)*+",
        None,
    ),
    # Home directories: Linux and macOS (also below a mount), Windows (also in escaped and slash form), and the dashed
    # folder names that some agents make of them.
    (
        "home",
        ("/home/", "/users/"),
        r"(?<![\w\].-])(?:/(?:var|usr|export|data|mnt/[a-z]|[a-z]))?/(?:home|Users)/[^\s/\\:\"'`<>|,;()\[\]{}$*?]+",
        None,
    ),
    ("home", ("/root",), r"(?<![\w\].-])/root(?![\w.-])", None),
    (
        "home",
        ("users", "documents and settings"),
        r"(?i)(?<![a-z0-9])[a-z]:(?P<sep>\\{1,4}|/)(?:users|documents and settings)(?P=sep)"
        r"(?:[^\\/:*?\"<>|\r\n\[\]]{1,64}(?=(?P=sep))|[^\s\\/:*?\"'<>|,;()\[\]]+)",
        None,
    ),
    ("home", ("-home-", "-users-"), r"(?<=[/\\])-(?:home|Users)-[^\s/\\:\"'<>|,;()\[\]-]+", None),
)

# --- name = value ---------------------------------------------------------------------------------------------------

#: The name of a secret and what ties it to its value: `password=`, `"api_key": `, `DB_PASS:=`, `--token `.
_ASSIGN = (
    r"(?i)(?:(?P<password>password|passwd|passphrase|passcode|pwd|(?<=[a-z0-9][_-])pass)"
    r"|(?P<token>token)"
    r"|(?P<key>secret|(?:api|access|account|auth|encryption|private|secret|signing|shared)[_-]?(?:access[_-]?)?key"
    r"|apikey|credentials?))"
    r"(?:(?P<quoted>\\{0,4}[\"'])?[ \t]{0,8}(?:(?P<strong>:=|=>|==?)|:)[ \t]{0,8}|(?<=[a-z])(?P<flag>[ \t]{1,8}))"
    r"(?P<open>\\{0,4}[\"'`])?"
)
_ASSIGN_HINTS = ("pass", "pwd", "token", "secret", "key", "credential")
#: A value without quotes ends at white space, a quote, a comma, a semicolon, `&` or an angle bracket.
_BARE = r"[^\s\"'`,;&<>]+"
#: Values that say something about a secret rather than being one.
_ORDINARY_WORDS = (
    "a an and any are as at be but by can cannot changed config could does empty env expected expired false for from "
    "has have here hidden if in incorrect invalid is it its masked may missing must needed needs never new nil no none "
    "not null of ok on one optional or please protected redacted required reset revoked rotated see set should str "
    "string that the their there this to too true undefined unknown unset until using value via was were when will "
    "with wrong you your"
)
_ORDINARY = frozenset(_ORDINARY_WORDS.split())


#: Texts that are looked at together.
_AT_ONCE = 100
#: Each word, with the row of the table that asks for it.
_HINTS = tuple((hint, row) for row, (_, hints, _, _) in enumerate(_TABLE) for hint in hints)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # One by one, when a text may need it: compiling all takes longer than a call of `heal`.
    return re.compile(pattern)


@lru_cache(maxsize=1)
def _assignments() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    placeholder = rf"\[{_LABELS}(?: [0-9a-f]+)?\](?=[\s\"'`,;&<>\\)\]}}.]|\Z)"
    return re.compile(_ASSIGN), re.compile(_BARE), re.compile(placeholder)


def _assigned(text: str) -> Iterator[Span]:
    """Yield the values of `password = value` and its kin."""
    assign, bare, placeholder = _assignments()
    position = 0
    while match := assign.search(text, position):
        position = match.end()
        label = next(name for name in ("password", "token", "key") if match[name])
        # A flag's value follows a blank: `--password hunter2`. Without the dashes it is a sentence.
        if match["flag"] and not _is_flag(text, match.start()):
            continue
        if placeholder.match(text, position):
            continue
        end = _quoted_end(text, position, match["open"]) if match["open"] else None
        if end is None:
            value = bare.match(text, position)
            if not value:
                continue
            end = position + len(value[0].rstrip(")]}.!?:\\"))
        # What is judged is short; what is taken is the whole run, and the search goes on behind it.
        if _is_value(text[position : min(end, position + 24)], label, match):
            yield position, end, label
            position = end


def _is_flag(text: str, start: int) -> bool:
    """Say whether the name at `start` is the end of a command line flag: `--db-password`."""
    head = text[max(0, start - 40) : start]
    word = head[len(head.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")) :]
    return word.startswith("--")


def _quoted_end(text: str, position: int, opening: str) -> int | None:
    """Return where a quoted value ends, or None where its closing quote is not near."""
    quote = opening[-1]
    stop = min(len(text), position + 256)
    index = position
    while index < stop:
        index = text.find(quote, index, stop)
        if index < 0:
            return None
        body = text[position:index]
        slashes = len(body) - len(body.rstrip("\\"))
        # `"pass\"word"` goes on behind the escaped quote; in `\"password\": \"x\"` the escaped quote is the end.
        if len(opening) > 1 or slashes % 2 == 0:
            return index - (slashes if len(opening) > 1 else 0) if index > position else None
        index += 1
    return None


def _is_value(value: str, label: str, match: re.Match[str]) -> bool:
    """Tell a secret from a word: short values and ordinary words are left alone, and paths after `pwd`."""
    if len(value) < 3 or value.casefold().rstrip(".,:!?") in _ORDINARY:
        return False
    if match["flag"] and value.startswith("-"):
        return False
    if label == "password":
        return not (match["password"].casefold() == "pwd" and re.match(r"[/~.]|[A-Za-z]:[\\/]", value))
    if label == "token" and value.isdecimal() and len(value) < 10:
        return False
    if match["strong"] or match["flag"] or match["open"]:
        return True
    return len(value) >= 16 or (len(value) >= 6 and any(c.isdigit() for c in value))


# --- all together ---------------------------------------------------------------------------------------------------


def _spans(text: str) -> list[Span]:
    """Return every secret in order; secrets that overlap become one, labelled by the first of them."""
    low = text.lower()
    found: list[Span] = []
    # Most texts hold no secret at all, and are let go here.
    for row in sorted({row for hint, row in _HINTS if hint in low}):
        label, _, rule, check = _TABLE[row]
        pattern = _compiled(rule)
        for match in pattern.finditer(text):
            start, end = match.span("secret" if "secret" in pattern.groupindex else 0)
            if check is None or check(text[start:end]):
                found.append((start, end, label))
    if any(hint in low for hint in _ASSIGN_HINTS):
        found.extend(_assigned(text))
    # The sort is stable: of two that start together the earlier of the table gives the label.
    found.sort(key=lambda span: span[0])
    merged: list[Span] = []
    for start, end, label in found:
        if merged and start < merged[-1][1]:
            first, last, kept = merged[-1]
            # `u:hunter2@host.example` is a password and a host, not somebody's address.
            if not (label == "e-mail" and kept == "password" and text.startswith("@", last)):
                merged[-1] = (first, max(end, last), kept)
        else:
            merged.append((start, end, label))
    return merged


def find_secrets(text: str) -> list[tuple[str, str]]:
    """Return the distinct secrets in `text` as `(label, case-folded secret)`, in order; empty for ordinary text."""
    return list(dict.fromkeys((label, text[start:end].casefold()) for start, end, label in _spans(text)))


def holding_secrets(texts: Sequence[str]) -> set[str]:
    """Return those of the texts that hold a secret; texts without any are looked at many at a time."""
    hints = {hint for hint, _ in _HINTS} | set(_ASSIGN_HINTS)
    found: set[str] = set()
    for start in range(0, len(texts), _AT_ONCE):
        some = texts[start : start + _AT_ONCE]
        low = "\n".join(some).lower()
        if any(hint in low for hint in hints):
            found.update(text for text in some if _spans(text))
    return found


def replace_secrets(text: str, shown: Callable[[str, str], str]) -> str:
    """Return `text` with each secret replaced by `shown(label, secret)`, which must be a label in brackets.

    A number or a hash may follow the label: `[e-mail 2]`, `[e-mail 3fa2c1]`.
    """
    # What stands beside a label may look different from what stood beside the secret, so look again until nothing
    # is found. Two rounds are the rule; the bound only guards the time.
    for _ in range(8):
        spans = _spans(text)
        if not spans:
            break
        parts: list[str] = []
        position = 0
        for start, end, label in spans:
            parts += (text[position:start], shown(label, text[start:end]))
            position = end
        text = "".join(parts) + text[position:]
    return text


def redact(text: str) -> str:
    """Return `text` with each secret replaced by its label in brackets: `[e-mail]`, `[home]/x`, `u:[password]@host`.

    Redacting twice changes nothing. Ordinary text comes back as it is.
    """
    return replace_secrets(text, lambda label, secret: f"[{label}]")


def redact_hashed(text: str) -> str:
    """Like `redact`, but an address becomes `[e-mail 3fa2c1]`, so that two people stay two in the healing log."""
    return replace_secrets(
        text, lambda label, secret: f"[e-mail {email_hash(secret)}]" if label == "e-mail" else f"[{label}]"
    )


def email_hash(address: str) -> str:
    """Return the first six hex digits of the SHA-256 of the case-folded address."""
    import hashlib  # not above: it loads OpenSSL, and most texts hold no address

    return hashlib.sha256(address.casefold().encode("utf-8", "surrogatepass")).hexdigest()[:6]
