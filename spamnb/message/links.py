"""Where links of HTML lead, and which host their text shows."""

from __future__ import annotations

import re

SHOWN_HOST = re.compile(r"\s*+(?:https?://)?([a-z0-9-]++(?:\.[a-z0-9-]++)++)(?:[/:?#\s]|\Z)", re.IGNORECASE)
LINKED_HOST = re.compile(r"\s*+https?:/{2,3}(?:[^/?#@\s]{0,200}@)?([^/?#:\s]++)", re.IGNORECASE)


def clean_url(url: str) -> str:
    """A URL as browsers take it: without line breaks, tabs and blanks around it; at most 2000 characters."""
    url = url[:2000].strip()
    if "\n" in url or "\t" in url or "\r" in url:
        url = url.translate({9: None, 10: None, 13: None})
    return url


def last_labels(host: str) -> str:
    """The last two labels of a host name, in lower case."""
    labels = host.lower().rstrip(".").split(".")
    return ".".join(labels[max(0, len(labels) - 2) :])
