"""Answers to the core's questions while it reads a message: characters, rare charsets, documents, words by nltk."""

from __future__ import annotations

import re
import unicodedata
from base64 import encodebytes
from collections.abc import Callable

from spamnb.errors import SpamnbError
from spamnb.reader.characters import describe_characters, host_form
from spamnb.reader.charsets import decode
from spamnb.settings import Settings

_Entity = tuple[bytes, bool]  # a MIME entity, or b""; and whether it contains the whole document


def _format_file(name: str, content: bytes) -> bytes:
    """Return a file as a part of a message. The core takes the file's type from the end of ``name``."""
    escaped = "".join([f"%{byte:02x}" for byte in name.encode("utf-8", "replace")])
    return _format_part(
        "application/octet-stream", content, f"Content-Disposition: attachment; filename*=utf-8''{escaped}\n"
    )


def _format_part(content_type: str, content: bytes, other_fields: str = "") -> bytes:
    fields = f"Content-Type: {content_type}\nContent-Transfer-Encoding: base64\n{other_fields}\n"
    return fields.encode() + encodebytes(content)


# The tweet tokenizer takes quadratic time for text without spaces, 1.5 s for 25,000 digits, and raises TimeoutError
# after 5 s. So a long run gets a space after every 100 characters, and a long text is split at spaces.
_LONG_RUN = re.compile(r"\S{100}")
_PIECE = re.compile(r"(?s).{1,50000}(?:\s|\Z)")
# 33 or more combining marks or other symbols beyond ASCII. Without the look-behind, a MB of short runs takes 90 ms.
_LONG_SYMBOL_RUN = re.compile(r"(?<![^\w\x00-\x7f])[^\w\x00-\x7f]{33,}")


def _tokenize_function(tokenizer: str) -> Callable[[str], list[str]]:
    from nltk.tokenize import TreebankWordTokenizer, TweetTokenizer

    tokenize = TweetTokenizer().tokenize if tokenizer == "tweet" else TreebankWordTokenizer().tokenize
    return lambda text: [word for piece in _PIECE.findall(_LONG_RUN.sub(r"\g<0> ", text)) for word in tokenize(piece)]


def _stem_function(language: str) -> Callable[[str], str]:
    from nltk.stem.snowball import SnowballStemmer

    if language not in SnowballStemmer.languages:
        raise SpamnbError(f"stem is {language!r}: it must be one of {', '.join(SnowballStemmer.languages)}")
    stem: Callable[[str], str] = SnowballStemmer(language).stem
    return stem


class Answers:
    """Answers the core's questions. Each kind of question has a method, named as in ``enum ask`` of core/interface.h.

    >>> Answers(Settings()).decode("день".encode("utf-16"), b"utf-16").decode()
    'день'
    """

    def __init__(self, settings: Settings) -> None:
        self._tokenize = _tokenize_function(settings.tokenizer) if settings.tokenizer != "own" else str.split
        self._stem = _stem_function(settings.stem) if settings.stem is not None else str

    def characters(self, encoded: bytes) -> bytes:
        """Describe the block of 256 characters that contains this one, as `describe_characters` does."""
        return describe_characters(ord(encoded.decode()) & ~255)

    def decode(self, octets: bytes, charset: bytes) -> bytes | None:
        """Return the octets as UTF-8; None if the core decodes them itself."""
        text = decode(octets, charset.decode("utf-8", "replace"))
        return None if text is None else text.encode()

    def compose(self, text: bytes) -> bytes:
        """Compose letters with the accents that follow (Unicode form NFC)."""
        decoded = text.decode().replace("\uff9e", "\u3099").replace("\uff9f", "\u309a")  # voiced sounds of katakana
        # Normalizing takes n² steps for n marks after one letter, so 32 marks of each run are kept.
        decoded = _LONG_SYMBOL_RUN.sub(lambda run: run.group()[:32], decoded)
        return unicodedata.normalize("NFC", decoded).encode()

    def host(self, host: bytes) -> bytes:
        """Return a host as browsers resolve it: mapped as in UTS 46, and punycode decoded.

        The core has put ASCII letters into lower case.

        >>> Answers(Settings()).host("ＷＷＷ。xn--bcher-kva.example".encode()).decode()
        'www.bücher.example'
        """
        name = host.decode("utf-8", "replace")
        if not name.isascii():
            name = unicodedata.normalize("NFC", "".join(map(host_form, name)))
        try:
            return re.sub(r"\bxn--([a-z0-9-]+)", lambda label: label[1].encode().decode("punycode"), name).encode()
        except UnicodeError:  # damaged punycode
            return name.encode("utf-8", "replace")

    def stem(self, word: bytes) -> bytes:
        """Return the stem of a word of letters; other words stay as they are."""
        text = word.decode()
        return self._stem(text).encode() if text.isalpha() else word

    def split(self, text: bytes) -> bytes:
        """Return the words of a text, one on each line."""
        return "".join([f"{word}\n" for word in self._tokenize(text.decode())]).encode()

    def pdf(self, document: bytes) -> _Entity:
        """Return a PDF document as a page of HTML."""
        from html import escape

        from spamnb.reader.pdf import read_pdf  # here, because few messages have a PDF

        text, links, is_whole = read_pdf(document)
        elements = "".join([f'<a href="{escape(link)}"></a>' for link in links])
        page = f"<pre>{escape(text)}</pre>{elements}".encode("utf-8", "replace")
        fields = b"Content-Type: text/html; charset=utf-8\nContent-Disposition: attachment\n\n"
        return fields + page if text or links else b"", is_whole

    def smime(self, document: bytes) -> _Entity:
        """Return the signed entity of an S/MIME document, and whether there is one: encrypted mail has none."""
        from spamnb.reader.smime import signed_content

        entity = signed_content(document)
        return entity, bool(entity)

    def tnef(self, document: bytes) -> _Entity:
        """Return body and files of a winmail.dat as a multipart entity."""
        from spamnb.reader.tnef import read_tnef

        body, files, is_whole = read_tnef(document)
        parts = [_format_part(*body)] if body else []
        parts += [_format_file(name, content) for name, content in files]
        lines = b"".join([b"--inner\n%b\n" % part for part in parts])  # base64 has no line that begins with --
        return b"Content-Type: multipart/mixed; boundary=inner\n\n%b--inner--\n" % lines if parts else b"", is_whole
