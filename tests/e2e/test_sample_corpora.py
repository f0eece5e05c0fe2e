"""The sample corpora name nobody's real domain, as corpora/README.md says."""

import email
import re
from pathlib import Path

CORPORA = Path(__file__).parents[2] / "corpora"
RESERVED = re.compile(r"(^|\.)(example\.(com|org|net)|example|test|invalid|localhost|local|lan)$")


def parts() -> list[email.message.Message]:
    paths = [path for path in CORPORA.rglob("*") if path.is_file() and path.parent != CORPORA]
    return [part for path in paths for part in email.message_from_bytes(path.read_bytes()).walk()]


def test_addresses_and_links_are_nobodys() -> None:
    for part in parts():
        if part.is_multipart() or part.get_content_maintype() != "text":
            text = ""
        else:
            raw = part.get_payload(decode=True)
            assert isinstance(raw, bytes)
            text = raw.decode(part.get_content_charset() or "ascii")
        text += "\n".join(
            f"{name}: {value}" for name, value in part.items() if name not in ("Message-ID", "Message-Id")
        )
        for host in re.findall(r"(?:@|https?://)([A-Za-z0-9.-]+\.[A-Za-z]{2,})", text):
            assert RESERVED.search(host.lower()), host
        for address in re.findall(r"\[(\d+\.\d+\.\d+\.\d+)\]|https?://(\d+\.\d+\.\d+\.\d+)", text):
            assert re.match(r"192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|127\.0\.0\.1", "".join(address)), address
