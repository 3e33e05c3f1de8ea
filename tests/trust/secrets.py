"""Made-up secrets in the forms of the well-known providers, put together here so that no scanner takes the file for a
leak, and every place of a project into which they are planted.
"""

from __future__ import annotations

import random
import string

LOWER, DIGITS = string.ascii_lowercase, string.digits
HEX = DIGITS + "abcdef"
ALNUM = string.ascii_letters + DIGITS
UPPER = string.ascii_uppercase + DIGITS
WEB = ALNUM + "_-"

#: Name of the form; what stands before the secret, in parts; alphabet and length of what follows; what stands after.
_FORMS: tuple[tuple[str, tuple[str, ...], str, int, str], ...] = (
    ("Anthropic", ("sk-", "ant-", "api03-"), WEB, 93, "AA"), ("OpenAI", ("s", "k-"), ALNUM, 48, ""),
    ("OpenAI project", ("sk-", "proj-"), WEB, 74, ""), ("OpenAI service account", ("sk-", "svcacct-"), WEB, 74, ""),
    ("OpenRouter", ("sk-", "or-", "v1-"), HEX, 64, ""), ("Groq", ("gs", "k_"), ALNUM, 52, ""),
    ("xAI", ("xa", "i-"), ALNUM, 80, ""), ("Replicate", ("r", "8_"), ALNUM, 37, ""),
    ("Perplexity", ("pp", "lx-"), ALNUM, 48, ""), ("Pinecone", ("pc", "sk_"), ALNUM + "_", 68, ""),
    ("LangSmith", ("ls", "v2_", "pt_"), HEX, 32, "_0123456789"), ("Hugging Face", ("h", "f_"), ALNUM, 34, ""),
    ("AWS access key id", ("AK", "IA"), UPPER, 16, ""), ("AWS temporary key id", ("AS", "IA"), UPPER, 16, ""),
    ("AWS Bedrock", ("AB", "SK"), ALNUM, 109, ""), ("Google API", ("AI", "za"), WEB, 35, ""),
    ("Google OAuth", ("ya", "29."), WEB, 68, ""), ("Google client", ("GOC", "SPX-"), WEB, 28, ""),
    ("GitHub", ("gh", "p_"), ALNUM, 36, ""), ("GitHub app", ("gh", "s_"), ALNUM, 36, ""),
    ("GitHub fine-grained", ("github", "_pat_"), ALNUM + "_", 82, ""), ("GitLab", ("gl", "pat-"), WEB, 20, ""),
    ("GitLab runner", ("gl", "rt-"), WEB, 20, ""), ("Slack bot", ("xo", "xb-"), DIGITS, 12, "-123456789012-abCDefGH"),
    ("Slack user", ("xo", "xp-"), DIGITS, 12, "-123456789012-abCDefGH"), ("Slack app", ("xa", "pp-"), "1", 1, "-A0B1-23-ab45"),
    ("Slack hook", ("https://hooks.", "slack.com/services/T000/B000/"), ALNUM, 24, ""),
    ("Discord hook", ("https://discord.", "com/api/webhooks/123456789012345678/"), WEB, 68, ""),
    ("Discord bot", ("MTEx", "MTEx"), ALNUM, 18, ".GaBcDe.abcDEF0123456789abcDEF0123456789ab"),
    ("Telegram bot", ("123456", "7890:AA"), WEB, 33, ""), ("Stripe", ("sk_", "live_"), ALNUM, 24, ""),
    ("Stripe restricted", ("rk_", "live_"), ALNUM, 24, ""), ("Stripe hook", ("wh", "sec_"), ALNUM, 32, ""),
    ("Square", ("sq0", "atp-"), WEB, 22, ""), ("Shopify", ("sh", "pat_"), HEX, 32, ""),
    ("npm", ("np", "m_"), ALNUM, 36, ""), ("PyPI", ("py", "pi-"), WEB, 85, ""), ("RubyGems", ("rubygems", "_"), HEX, 48, ""),
    ("crates.io", ("ci", "o"), ALNUM, 32, ""), ("Docker Hub", ("dckr", "_pat_"), WEB, 27, ""),
    ("DigitalOcean", ("dop", "_v1_"), HEX, 64, ""), ("DigitalOcean OAuth", ("doo", "_v1_"), HEX, 64, ""),
    ("Heroku", ("HR", "KU-"), WEB, 60, ""), ("Netlify", ("nf", "p_"), ALNUM, 36, ""),
    ("Fly", ("fm", "2_"), ALNUM, 60, ""), ("Supabase", ("sb", "p_"), HEX, 40, ""), ("PlanetScale", ("pscale", "_tkn_"), WEB, 43, ""),
    ("Databricks", ("da", "pi"), HEX, 32, ""), ("Grafana", ("gl", "sa_"), ALNUM, 32, "_1a2b3c4d"),
    ("Grafana Cloud", ("gl", "c_"), ALNUM, 60, ""), ("New Relic", ("NR", "AK-"), UPPER, 27, ""),
    ("Sentry", ("sntr", "yu_"), HEX, 64, ""), ("Dynatrace", ("dt0", "c01."), UPPER, 24, "." + "AB12" * 16),
    ("SendGrid", ("S", "G."), WEB, 22, ".abcDEF0123456789abcDEF0123456789abcDEF01234"),
    ("Mailgun", ("key", "-"), HEX, 32, ""), ("Mailchimp", ("", ""), HEX, 32, "-us12"), ("Twilio", ("S", "K"), HEX, 32, ""),
    ("Resend", ("re", "_"), ALNUM, 8, "_abCD1234efGH5678ijKL9012"), ("Linear", ("lin", "_api_"), ALNUM, 40, ""),
    ("Notion", ("nt", "n_"), ALNUM, 46, ""), ("Postman", ("PM", "AK-"), HEX, 24, "-" + "ab12" * 8),
    ("Figma", ("fig", "d_"), WEB, 40, ""), ("Airtable", ("p", "at"), ALNUM, 14, "." + "ab12" * 16),
    ("Atlassian", ("ATA", "TT3"), WEB, 180, "=1A2B3C4D"), ("Bitbucket", ("AT", "BB"), ALNUM, 32, ""),
    ("Vault", ("hv", "s."), WEB, 90, ""), ("Terraform", ("", ""), ALNUM, 14, ".atlasv1." + "aB1-" * 16),
    ("Doppler", ("dp.", "pt."), ALNUM, 43, ""), ("Pulumi", ("pu", "l-"), HEX, 40, ""),
    ("Buildkite", ("bk", "ua_"), HEX, 40, ""), ("SonarQube", ("sq", "u_"), HEX, 40, ""), ("Tailscale", ("ts", "key-auth-"), ALNUM, 17, "-" + "aB1" * 10),
    ("age", ("AGE-SECRET", "-KEY-1"), UPPER, 58, ""), ("Azure AD", ("abc", "8Q~"), WEB, 34, ""), ("Alibaba", ("LT", "AI"), ALNUM, 20, ""),
    ("JSON Web Token", ("ey", "JhbGciOiJIUzI1NiJ9.", "ey", "J"), ALNUM, 40, ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"),
    ("Facebook", ("EA", "ACEdEose0cBA"), ALNUM, 60, ""),
)  # fmt: skip
#: What is secret for its name or its place: text with `{}` for the secret, alphabet, length.
_PLACED: tuple[tuple[str, str, str, int], ...] = (
    ("bearer header", "Authorization: Bearer {}", ALNUM, 30), ("curl header", "-H 'authorization: bearer {}'", ALNUM, 24),
    ("basic header", "Authorization: Basic {}", ALNUM, 24), ("token header", "Authorization: token {}", HEX, 40),
    ("key header", "x-api-key: {}", ALNUM, 32), ("cookie", "Cookie: session_token={}", ALNUM, 32),
    ("password in a URL", "postgres://app:{}@db.internal:5432/app", ALNUM, 14),
    ("password in an https URL", "https://joe:{}@git.internal/x.git", ALNUM, 20), ("password in redis", "redis://:{}@cache:6379/0", ALNUM, 16),
    ("token in a URL", "https://x-access-token:{}@git.internal/x.git", ALNUM, 30),
    ("access token in a query", "https://api.internal/v1?access_token={}&q=1", ALNUM, 32),
    ("key in a query", "https://api.internal/v1?api_key={}&q=1", ALNUM, 32), ("signature of a URL", "https://x.blob.internal/c?sv=2024&sig={}%3D", ALNUM, 43),
    ("password", "password={}", ALNUM, 10), ("password in quotes", 'password: "{} x"', ALNUM, 10), ("PGPASSWORD", "PGPASSWORD={} psql", ALNUM, 12),
    ("flag", "mysql --password {} -v", ALNUM, 12), ("aws secret", "aws_secret_access_key = {}", ALNUM + "/+", 40),
    ("aws session", "AWS_SESSION_TOKEN={}", ALNUM + "/+", 200), ("client secret", '{{"client_secret": "{}"}}', ALNUM, 32),
    ("account key", "AccountName=x;AccountKey={}==;EndpointSuffix=y", ALNUM + "/+", 86), ("env", "DB_PASS={}", ALNUM, 12),
    ("json", '{{"apiKey": "{}"}}', ALNUM, 24), ("escaped json", '{{\\"token\\": \\"{}\\"}}', ALNUM, 24), ("yaml", "secret: {}", ALNUM, 24),
)  # fmt: skip
_PEOPLE = ("{}@example.com", "{}.doe+x@mail.example.co.uk", "<{}@büro.example>")
_HOMES = ("/home/{}/project/x.py", "/Users/{}/src/a.py", "C:\\Users\\{}\\x", "/mnt/c/Users/{}/x", "file:///home/{}/a")


class Planted:
    """A text with a secret in it, and the part of it that may stand nowhere."""

    def __init__(self, kind: str, text: str, secret: str) -> None:
        self.kind, self.text, self.secret = kind, text, secret


def corpus(seed: int = 1) -> list[Planted]:
    """Return one of each form, each different from all others."""
    rng = random.Random(seed)

    def some(alphabet: str, length: int) -> str:
        # No random key is all letters.
        text = "".join(rng.choice(alphabet) for _ in range(length))
        return text if length < 6 or any(c in DIGITS for c in text) else text[:-2] + "4" + text[-1]

    found = []
    for kind, head, alphabet, length, tail in _FORMS:
        body = some(alphabet, length)
        text = "".join(head) + body + tail
        # Of a webhook the path is the secret, of a key all of it.
        found.append(Planted(kind, text, body[:20] if length > 5 else text))
    for kind, form, alphabet, length in _PLACED:
        body = some(alphabet, length)
        found.append(Planted(kind, form.format(body), body))
    for maker in ("RSA ", "OPENSSH ", "EC ", "", "ENCRYPTED "):
        block = some(ALNUM, 60)
        begin, end = f"-----BEGIN {maker}" + "PRIVATE KEY-----", f"-----END {maker}" + "PRIVATE KEY-----"
        found.append(Planted(f"{maker}private key", f"{begin}\\n{block}\\n{end}", block))
    for form in (*_PEOPLE, *_HOMES):
        name = "zq" + some(LOWER, 9)
        found.append(Planted("e-mail" if "@" in form else "home", form.format(name), name))
    return found


def planted_words() -> list[str]:
    """Return what may stand nowhere."""
    return [one.secret for one in corpus()]
