"""What of a message was not read because a bound was reached: in words for people, and as one of a few kinds."""

from __future__ import annotations

# By the first word of the description. A test compares these with what the files of this room say.
KINDS = {
    "header": "headers",  # "header fields after …", "header section after …"
    "parts": "parts",
    "text": "text",
    "HTML": "html",
    "HTML's": "html",
    "attributes": "html",
    "links": "links",
    "PDF": "pdf",
    "TNEF": "tnef",
    "TNEF:": "tnef",
    "S/MIME": "smime",
}


def what_was_cut(description: str) -> str:
    """The kind of a member of ``Message.truncations``: one of ``KINDS``' values.

    >>> what_was_cut("header fields after the first 1000"), what_was_cut("HTML after 10000 tags")
    ('headers', 'html')
    """
    return KINDS.get(description.partition(" ")[0], "other")
