"""The sample corpora are what corpora/README.md says: as many, well formed, varied, and of nobody's real domain."""

import email
import re
from collections import Counter
from pathlib import Path

from spamnb.sources.spec import entries

CORPORA = Path(__file__).parents[2] / "corpora"
RESERVED = re.compile(r"(^|\.)(example\.(com|org|net)|example|test|invalid|localhost|local|lan)$")


def counts(folder: str) -> Counter[str | None]:
    return Counter(entry.label for entry in entries([str(CORPORA / folder)], lambda name, error: None))


def parts() -> list[email.message.Message]:
    paths = [path for path in CORPORA.rglob("*") if path.is_file() and path.parent != CORPORA]
    return [part for path in paths for part in email.message_from_bytes(path.read_bytes()).walk()]


def test_numbers_are_those_of_the_readme() -> None:
    readme = (CORPORA / "README.md").read_text(encoding="utf-8")
    assert counts("mail") == {"ham": 65, "spam": 62}
    assert counts("unseen") == {"ham": 13, "spam": 13}
    assert counts("newsgroups") == {"rec.cycling": 40, "rec.gardening": 40}
    for cell in ("| 65 |", "| 62 |", "| 13 + 13 |", "| 40 + 40 |"):
        assert cell in readme


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
