"""One redaction step for every text that may carry a secret.

Names decide first (``*_TOKEN``, ``*_KEY``, ``*_SECRET``, ``*PASSWORD*`` and their kin), then what a
text looks like: user information in URLs, bearer strings, keys of known shapes, ``name=value`` pairs
with a secret name. All patterns are linear in the length of the text.
"""

import functools
import re
from collections.abc import Sequence

REDACTED = "[redacted]"

_SECRET_NAME = re.compile(
    # Anywhere in the name: words that mean nothing else.
    r"(?:^|_)(?:SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|BEARER)(?:_|$)|PASSWORD"
    # At the end: words that also occur inside harmless names (NUM_TOKEN_BLOCKS, KEY_CACHE_SIZE).
    r"|(?:^|_)(?:(?:AUTH|ACCESS|API|BEARER|REFRESH|SESSION|HUB|ID)?TOKEN|(?:API|AUTH|ACCESS|SECRET|PRIVATE|SSH)?KEY"
    r"|(?<!NAN_)SIGNATURE|PASS|JWT)(?:_?[0-9]+|_(?:ID|VALUE|DATA|STRING|TEXT|HEX|B64|BASE64))?$"
    # Plurals only where no counter is called like that (NUM_MEMORY_TOKENS).
    r"|(?:^|_)(?:API|AUTH|ACCESS|SECRET|PRIVATE)_?(?:TOKENS|KEYS)$"
    r"|[A-Z0-9]_PWD$"
    # What a server is shown: of AUTH often only the method, which is kept.
    r"|_AUTH(?:ORIZATION)?$|(?:^|_)COOKIES?$"
)
_COOKIE_NAME = re.compile(r"COOKIES?$", re.IGNORECASE)
_METHOD_NAME = re.compile(r"AUTH$", re.IGNORECASE)
#: Ways of authentication; such a word after AUTH is no secret.
# fmt: off
_METHODS = frozenset(
    ("basic", "digest", "bearer", "token", "negotiate", "ntlm", "kerberos", "krb5", "gssapi", "gss",
     "sasl", "ldap", "ldaps", "pam", "munge", "ssl", "tls", "mtls", "x509", "cert", "oauth",
     "oauth2", "oidc", "saml", "jwt", "simple", "password", "key", "trust", "peer", "auto",
     "optional", "required")
)
# fmt: on
_BOUNDARY = re.compile(r"[-.\s]+|(?<=[a-z0-9])(?=[A-Z])")
_NAME_LIMIT = 256

#: A switch is no secret: USE_CLS_TOKEN=1.
_SWITCHES = frozenset(("", "0", "1", "true", "false", "yes", "no", "on", "off", "none"))

_SHAPES = (
    # user:password@ of any URL, the last @ of the authority counts; a password may hold a raw slash
    re.compile(r"(?P<keep>://)[^\s/?#\"'<>\\]{1,1024}(?=@(?!sha256:))"),
    re.compile(r"(?P<keep>://)[^\s/@:\"'<>]{0,256}:(?!\d{1,5}[/?#])[^\s@\"'<>]{1,256}(?=@(?!sha256:))"),
    # the same of a URL that was taken for a path, and of a share's address
    re.compile(
        r"(?P<keep>\b[a-z][a-z0-9+.-]{0,20}:/|(?<![:/\w])//)[^\s/@:\"'<>]{1,256}:[^\s/@\"'<>]{1,256}(?=@)"
    ),
    re.compile(
        r"(?P<keep>\bauthorization\b[\"'\s:=\\]{1,8}(?:basic|digest|token)\s{1,8})[^\s\"',;]+",
        re.IGNORECASE,
    ),
    # what a container registry's settings hold
    re.compile(r"(?P<keep>\\?\"auth\\?\"\s{0,8}:\s{0,8}\\?\")[\w+/=-]{12,}"),
    re.compile(r"(?P<keep>\bbearer(?:\s|%20){1,8})[\w.~+/=-]{4,}", re.IGNORECASE),
    re.compile(r"(?P<keep>[?&]sig=)[^\s\"'&]+"),
    re.compile(r"(?P<keep>hooks\.slack\.com/services/)[\w/]+"),
    re.compile(
        r"(?P<keep>-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----)(?s:.*?)"
        r"(?=-----END [A-Z ]{0,32}PRIVATE KEY-----|\Z)"
    ),
    re.compile(
        r"(?P<keep>(?<![\w-]))(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|hf_[A-Za-z0-9]{16,}"
        r"|sk-(?=[A-Za-z_-]*[0-9])[\w-]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}"
        r"|AIza[\w-]{35}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{32,}|eyJ[\w-]{6,}\.[\w-]{4,}\.[\w-]*)"
    ),
)

# A name, perhaps quoted, and what stands between it and its value. A match begins where a word begins
# and takes the whole of it, so that no two attempts read the same characters.
_PAIR = re.compile(
    r"(?<![\w.-])(?P<dashes>--?)?(?P<name>[\w.][\w.-]*)(?P<quote>\\?[\"'])?"
    r"(?P<link>\s{0,8}=\s{0,8}|\s{0,8}:\s{0,8}|\s{1,8})(?:\\?[\"'])?"
)
#: A value up to the next blank or separator, with the scheme that stands before credentials, and with
#: the further pairs of a cookie.
_VALUE = re.compile(r"(?:(?:basic|digest|bearer|negotiate)[ \t]{1,8})?[^\s\"'\\,;&]+", re.IGNORECASE)
_COOKIES = re.compile(r"[^\s\"'\\,;&]+(?:;[ \t]{0,4}[^\s\"'\\,;&=]+=[^\s\"'\\,;&]*)*")
#: A kernel module's signature as modinfo prints it, number of the key and signature: public.
_MODULE_SIGNATURE = re.compile(r"(?:[0-9A-F]{2}:){4,}(?:[0-9A-F]{2})?")
_MODULE_FIELDS = frozenset(("sig_key", "signature"))
#: What can hide in a text without blanks, colons and equals signs.
_IN_ONE_WORD = tuple(shape for shape in _SHAPES if "slack" in shape.pattern or "hf_" in shape.pattern)
_WORD = re.compile(r"[\w./+-]{0,512}")
_QUOTED = {'"': re.compile(r"[^\"\\]+"), "'": re.compile(r"[^'\\]+")}
_BARE = frozenset(("key", "token", "pass", "jwt", "cookie", "cookies"))


@functools.lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Tell whether a variable, option or key is called like something that holds a secret."""
    if len(name) > _NAME_LIMIT:
        name = name[-_NAME_LIMIT:]
    return _SECRET_NAME.search(_BOUNDARY.sub("_", name.strip("-")).upper()) is not None


def redact(text: str) -> str:
    """Return the text with what looks like a credential replaced by ``[redacted]``."""
    if _WORD.fullmatch(text) and not any(shape.search(text) for shape in _IN_ONE_WORD):
        # Nearly every text is a version or a path.
        return text
    return _redacted_again(text) if len(text) <= _SHORT else _redacted(text)


def _redacted(text: str) -> str:
    text = _pairs(text)
    for shape in _SHAPES:
        text = shape.sub(lambda match: f"{match['keep']}{REDACTED}", text)
    return text


#: Sentences that a section says in every capture of a process are looked through once.
_SHORT = 512
_redacted_again = functools.lru_cache(maxsize=512)(_redacted)


def redact_value(name: str, value: str) -> str:
    """Return a variable's value as it may be written down.

    The whole of it is replaced when the name is secret and the value is no mere switch, else the
    secret parts only.
    """
    if is_secret_name(name):
        return value if _is_switch(name, value) else REDACTED
    if name.upper().endswith("_PROXY"):
        # A proxy may be written without a scheme.
        value = re.sub(r"^[^\s/@]{1,1024}@", f"{REDACTED}@", value)
    return redact(value)


def redact_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """Return a command line as it may be written down.

    Beside what ``redact`` replaces in each word, the value after a secret-looking option is masked,
    in both forms, ``--option value`` and ``--option=value``.
    """
    shown: list[str] = []
    waiting = ""
    for word in argv:
        if waiting and not _is_option(word):
            shown.append(word if _is_switch(waiting, word) else REDACTED)
            waiting = ""
            continue
        name, equals, value = word.partition("=")
        is_name = re.fullmatch(r"-{0,2}[A-Za-z_][\w.-]*", name) is not None
        waiting = name if word.startswith("-") and not equals and is_name and is_secret_name(name) else ""
        shown.append(f"{name}={redact_value(name.strip('-'), value)}" if is_name and equals else redact(word))
    return tuple(shown)


def _is_switch(name: str, value: str) -> bool:
    word = value.lower()
    return word in _SWITCHES or (word in _METHODS and _METHOD_NAME.search(name) is not None)


def _is_option(word: str) -> bool:
    return word.startswith("--") or re.fullmatch(r"-[A-Za-z]{1,2}", word) is not None


def _pairs(text: str) -> str:
    """Replace the values of ``name=value``, ``"name": "value"`` and ``--name value`` with secret names."""
    parts: list[str] = []
    done = 0
    match = _PAIR.search(text)
    while match is not None:
        end = match.end()
        value = _secret_after(text, match)
        if value is not None and not _is_switch(match["name"], value):
            parts += (text[done:end], REDACTED)
            done = end = end + len(value)
        else:
            # What follows may itself be a pair: docker run -e HF_TOKEN=…
            end = match.end("link") if match["link"].strip() or match["dashes"] else match.end("name")
        match = _PAIR.search(text, end)
    return "".join((*parts, text[done:]))


def _secret_after(text: str, match: "re.Match[str]") -> str | None:
    name, link, end = match["name"], match["link"], match.end()
    if not is_secret_name(name):
        return None
    opening = text[end - 1] if end > match.end("link") else ""
    bare_value = _COOKIES if _COOKIE_NAME.search(name) else _VALUE
    found = _QUOTED.get(opening, bare_value).match(text, end)
    value = found[0] if found else ""
    if value.startswith(REDACTED):
        return None
    if not link.strip():
        # Prose holds names too; only an option takes the next word.
        return value if match["dashes"] and not _is_option(value) else None
    if match["quote"]:
        return value
    if name in _MODULE_FIELDS and _MODULE_SIGNATURE.fullmatch(value):
        return None
    bare = name.lower() in _BARE and "=" not in value
    if ":" in link:
        # A directory of a search path, or a sentence such as "Unexpected token: x".
        in_path = text[max(0, match.start() - 1) : match.start()] == "/" or value.startswith("/")
        return None if in_path or (bare and len(value) < 16) else value
    return None if bare and len(value) < 4 else value
