"""A digest by mail: what was filtered, as text and HTML, with links to the pages. All of it is escaped."""

from __future__ import annotations

import re
import secrets
import socket
from collections.abc import Sequence
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from pathlib import Path

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.journal.digests import Filtered, digest_sent, filtered_since_digest
from spamnb.journal.journal import Journal
from spamnb.naming import pluralize
from spamnb.review.delivery import Delivery
from spamnb.review.pages import Line, line_of, render
from spamnb.serve.own_mail import FIELD, signature
from spamnb.serve.users import Models

MAX_URL = 500


def send_digest(
    journal: Path, shared: Path, users: Path | None, viewer: str | None, url: str, delivery: Delivery
) -> bool:
    """Deliver what was filtered since the last digest, to ``viewer``, None for all mail; False where there is nothing.

    What was told is noted when it is delivered: where that fails, the next digest tells it.
    """
    with Journal.at(journal) as notes:
        found = filtered_since_digest(notes, viewer)
        if not found.rows:
            return False
        models = Models(shared, users, 1, writable=True)
        try:
            known = [models.for_learning("")]
            own = models.taught(viewer) if viewer is not None else None
            if own is not None and own is not known[0]:
                known.append(own)
            delivery.deliver(digest_message(found, url, delivery.address, known))
        finally:
            models.close()
        digest_sent(notes, viewer, found.end)
    return True


def digest_message(found: Filtered, url: str, address: str, models: Sequence[Classifier]) -> bytes:
    """The digest as a message, with line feeds; ``models`` are those that will know it for their own."""
    lines = [line_of(row) for row in found.rows]
    total = found.spam + found.unsure
    values = {"lines": lines, "found": found, "total": total, "left": total - len(lines), "url": url}
    message = EmailMessage(policy=SMTP.clone(linesep="\n", max_line_length=200, cte_type="7bit"))
    message["From"] = f"spamnb <spamnb@{_host()}>"
    message["To"] = address or "undisclosed-recipients:;"
    message["Subject"] = f"{pluralize(total, 'message')} filtered"
    message["Date"] = formatdate(localtime=True)
    message["Message-ID"] = f"<{secrets.token_hex(16)}@{_host()}>"
    message["Auto-Submitted"] = "auto-generated"
    message[FIELD] = signature(models, str(message["Message-ID"]))
    message.set_content(_text(lines, values["left"], url))
    message.add_alternative(render("digest.html", **values), subtype="html")
    return message.as_bytes()


def checked_url(url: str) -> str:
    """The address of the pages, to which links lead. SpamnbError where it is none."""
    if not url.startswith(("http://", "https://")) or len(url) > MAX_URL or not url.isprintable() or " " in url:
        raise SpamnbError(f"--url {url!r:.100}: no address of a page; write https://HOST:PORT")
    return url.rstrip("/")


def _text(lines: Sequence[Line], left: object, url: str) -> str:
    """The same as plain text."""
    told = []
    for line in lines:
        told.append(f"{line.verdict}, {line.percent} spam: {line.subject}")
        told.append(f"  {line.sender}, {line.when}")
        told.append(f"  {url}/message/{line.position}")
        told.append("")
    if left:
        told += [f"and {left} more that the filter is surer of", ""]
    head = "Mail that was filtered, the most doubtful first. To put one right, follow its link."
    return "\n".join([head, "", *told, url])


def _host() -> str:
    """This machine's name, as an address may have it."""
    name = re.sub("[^A-Za-z0-9.-]", "", socket.gethostname())
    return name[:200].strip(".-") or "localhost"
