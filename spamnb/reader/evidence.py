"""The parts of a message that are evidence: header fields and how they are read, and kinds of tokens with their groups.

Figures: docs/experiments.md#header-fields, docs/experiments.md#groups-of-tokens.
"""

from __future__ import annotations

from collections.abc import Iterable

from spamnb.core.library import lib

# The tokens of one group repeat one another, so each group is pooled by itself. Otherwise ten headers of a mailing
# list, or a thousand words, would outvote the other evidence.
GROUPS = ("text", "pairs", "subject", "headers", "structure")
N_WORD_GROUPS = 3  # the first groups, whose tokens are words; those of the first one are single words

# The parts of a message that are not read because a bound was reached: name, and words for people; in the order of the
# bits in core/reader.h.
TRUNCATIONS = {
    "headers": "a part of the header section, which is too long",
    "html": "a part of the HTML, which has too many tags",
    "links": "some of the links, because there are too many",
    "parts": "some of the parts, because there are too many",
    "text": "a part of the text, which is too long",
    "names": "the meaning of some charsets or hosts, because there are too many",
    "tokens": "some of the words, because there are too many",
    "pdf": "a PDF document, or pages of it",
    "smime": "a signed or encrypted part that is too long, or whose content was not found",
    "tnef": "a winmail.dat, or a part of it",
}

# The prefixes that the core writes by itself, and their groups (tests/reader/test_rows.py). A header field without a
# prefix in its rule has its own name as prefix, in the group "headers".
KINDS = {
    "subject": "subject",
    **dict.fromkeys(("from", "to", "sender", "received", "header"), "headers"),
    **dict.fromkeys(("part", "charset", "encoding", "attachment", "html", "url", "truncated"), "structure"),
    **dict.fromkeys(("p", "length", "caps", "line", "capitals"), "structure"),
}
# Only the presence of fields with these names is evidence: words of a field "caps" would become tokens of kind caps.
_RESERVED_NAMES = [prefix for prefix, group in KINDS.items() if group == "structure" or prefix == "header"]
# How a field is read: enum header_method of core/interface.h.
IGNORED, VOLATILE, PRESENCE, WHOLE_WORDS = (
    lib.METHOD_IGNORED, lib.METHOD_VOLATILE, lib.METHOD_PRESENCE, lib.METHOD_WHOLE_WORDS,
)  # fmt: skip
SUBJECT, RECEIVED, SIGNATURE = lib.METHOD_SUBJECT, lib.METHOD_RECEIVED, lib.METHOD_SIGNATURE

# In the lists below, names with a final "*" match all fields that begin with them.
# Only the presence of these fields is evidence. The ten List-* fields of a mailing list have the same words, and the
# words of References are ids of other messages.
PRESENCE_ONLY = (
    "list-*",
    "date",
    "message-id",
    "in-reply-to*",
    "references*",
    "x-original-date*",
    "delivery-date*",
    "x-originalarrivaltime*",
    "content-id*",
    # Each message has dozens of words in these fields that occur in no other message.
    "x-gm-*",
    "x-google-smtp-source*",
    "x-microsoft-antispam-message-info*",
    "x-ms-exchange-antispam-messagedata*",
    "x-ms-exchange-crosstenant-*",
    "x-sg-*",
)
# The signing domain, the key's name and the signed fields are evidence. The signature itself differs in each message.
SIGNATURES = ("dkim-signature", "x-google-dkim-signature", "domainkey-signature", "arc-message-signature", "arc-seal")
# Fields of the same content, mostly people, share one prefix. This helps most if different servers, which write
# different fields of this kind, received the training mail and the new mail.
SHARED_PREFIXES = {
    "return-path": "sender",
    "errors-to": "sender",
    "x-sender": "sender",
    "cc": "to",
    "delivered-to": "to",
    "x-beenthere": "to",
    "arc-authentication-results": "authentication-results",
}
# Fields that mailboxes, readers and filters add to a stored message and change later. They belong neither
# to the tokens nor to the digest.
VOLATILE_FIELDS = (
    "status", "content-length", "lines", "x-status", "x-uid", "x-uidl", "x-keywords", "x-imap", "x-imapbase",
    "x-bogosity", "x-label", "x-spam", "x-account-key", "x-spamprobe", "x-tuid", "x-offlineimap",
    "x-gm-thrid", "x-gm-msgid", "x-gm-labels", "x-forefront-antispam-report", "x-microsoft-antispam",
    "x-universally-unique-identifier", "x-spam-*", "x-mozilla-*", "x-envelope-*", "x-evolution*", "x-gnus-*",
    "x-dspam-*", "x-rspamd-*", "x-crm114-*", "x-spambayes-*", "x-gmail-*", "x-spamd-*",
    "x-ms-exchange-organization-*", "x-apple-*",
)  # fmt: skip

Rule = tuple[bytes, int, bytes]  # a name, how the field is read, and the prefix of its tokens, or b"" for its own name


def header_rules(ignored: Iterable[str]) -> list[Rule]:
    """Return the rules by which the core reads header fields; a field without a rule is read as WHOLE_WORDS.

    If several rules match a field, the rule with its whole name counts, or else the first rule with a "*".

    >>> header_rules(["path"])[-1], header_rules([])[0]
    ((b'path', 0, b''), (b'status', 1, b''))
    """
    methods = {
        **dict.fromkeys(VOLATILE_FIELDS, VOLATILE), "received": RECEIVED,
        "subject": SUBJECT, **dict.fromkeys(SIGNATURES, SIGNATURE),
        **dict.fromkeys(SHARED_PREFIXES, WHOLE_WORDS), **dict.fromkeys(PRESENCE_ONLY, PRESENCE),
        **dict.fromkeys(_RESERVED_NAMES, PRESENCE),
    }  # fmt: skip
    methods |= {name: IGNORED for name in ignored if name not in VOLATILE_FIELDS}
    return [(name.encode(), how, SHARED_PREFIXES.get(name, "").encode()) for name, how in methods.items()]
