"""What the core asks for while it reads: characters, other charsets, documents, words by nltk. Rare, and slow."""

from __future__ import annotations

import re
import unicodedata
from base64 import encodebytes
from collections.abc import Callable

from spamnb.errors import SpamnbError
from spamnb.reader.characters import describe_characters, is_invisible
from spamnb.reader.charsets import decode
from spamnb.reader.options import TokenOptions

_Opened = tuple[bytes, bool]  # a MIME entity or nothing, and whether nothing was left out


def _file(name: str, content: bytes) -> bytes:
    """A file as a part of a message; the core reads it as the end of its name says."""
    escaped = "".join([f"%{byte:02x}" for byte in name.encode("utf-8", "replace")])
    return _part("application/octet-stream", content, f"Content-Disposition: attachment; filename*=utf-8''{escaped}\n")


def _part(content_type: str, content: bytes, more: str = "") -> bytes:
    fields = f"Content-Type: {content_type}\nContent-Transfer-Encoding: base64\n{more}\n"
    return fields.encode() + encodebytes(content)


_RUN = re.compile(r"\S{100}")
_PIECE = re.compile(r"(?s).{1,50000}(?:\s|\Z)")


def _splitter(tokenizer: str) -> Callable[[str], list[str]]:
    from nltk.tokenize import TreebankWordTokenizer, TweetTokenizer

    split = TweetTokenizer().tokenize if tokenizer == "tweet" else TreebankWordTokenizer().tokenize
    # Tweet takes quadratic time in what no space divides, 1.5 s for 25,000 digits, and raises TimeoutError after 5 s.
    return lambda text: [word for piece in _PIECE.findall(_RUN.sub(r"\g<0> ", text)) for word in split(piece)]


def _stemmer(language: str) -> Callable[[str], str]:
    from nltk.stem.snowball import SnowballStemmer

    if language not in SnowballStemmer.languages:
        raise SpamnbError(f"stem is {language!r}: it must be one of {', '.join(SnowballStemmer.languages)}")
    stem: Callable[[str], str] = SnowballStemmer(language).stem
    return stem


class Program:
    """Answers the core, which asks for words and stems only where the options say so.

    >>> Program(TokenOptions()).decode("день".encode("utf-16"), b"utf-16").decode()
    'день'
    """

    def __init__(self, options: TokenOptions) -> None:
        self._split = _splitter(options.tokenizer) if options.tokenizer != "own" else str.split
        self._stem = _stemmer(options.stem) if options.stem is not None else str

    def characters(self, encoded: bytes) -> bytes:
        """What the 256 characters are and become among which one is, as core/unicode.h has it."""
        return describe_characters(ord(encoded.decode()) & ~255)

    def decode(self, octets: bytes, charset: bytes) -> bytes | None:
        """Text in a charset that the core does not read; None where it does."""
        text = decode(octets, charset.decode("utf-8", "replace"))
        return None if text is None else text.encode()

    def compose(self, text: bytes) -> bytes:
        """Letters and the accents behind them as one character, where there is one."""
        # Putting n marks of one letter in order takes n² steps, and two letters of katakana become marks.
        shown = text.decode().replace("\uff9e", "\u3099").replace("\uff9f", "\u309a")
        shown = re.sub(r"[^\w\x00-\x7f]{33,}", lambda run: run.group()[:32], shown)
        return unicodedata.normalize("NFC", shown).encode()

    def host(self, host: bytes) -> bytes:
        """A host as browsers know it: in small letters, without what shows nothing; of punycode what it stands for.

        >>> Program(TokenOptions()).host("ＷＷＷ。xn--bcher-kva.example".encode()).decode()
        'www.bücher.example'
        """
        name = host.decode("utf-8", "replace")
        if not name.isascii():
            written = unicodedata.normalize("NFKC", name).replace("\u3002", ".")
            shown = [char for char in written if not is_invisible(char) and char != "\u115f"]
            # ß and ς are letters of their own.
            small = [char.lower() if char in "ßẞς" else char.casefold() for char in shown]
            name = unicodedata.normalize("NFKC", "".join(small))
        try:
            return re.sub(r"\bxn--([a-z0-9-]+)", lambda label: label[1].encode().decode("punycode"), name).encode()
        except UnicodeError:  # it is spoilt
            return name.encode("utf-8", "replace")

    def stem(self, word: bytes) -> bytes:
        """The stem of a word that is letters alone."""
        text = word.decode()
        return self._stem(text).encode() if text.isalpha() else word

    def split(self, text: bytes) -> bytes:
        """The words of a text, a line each."""
        return "".join([f"{word}\n" for word in self._split(text.decode())]).encode()

    def pdf(self, document: bytes) -> _Opened:
        """A PDF document as a page of HTML."""
        from html import escape

        from spamnb.reader.pdf import read_pdf  # few messages need it

        found = read_pdf(document)
        links = "".join([f'<a href="{escape(link)}"></a>' for link in found.links])
        page = f"<pre>{escape(found.text)}</pre>{links}".encode("utf-8", "replace")
        fields = b"Content-Type: text/html; charset=utf-8\nContent-Disposition: attachment\n\n"
        return fields + page if found.text or found.links else b"", found.is_whole

    def smime(self, document: bytes) -> bytes:
        """What was signed."""
        from spamnb.reader.smime import signed_content

        return signed_content(document)

    def tnef(self, document: bytes) -> _Opened:
        """Body and files of a winmail.dat."""
        from spamnb.reader.tnef import read_tnef

        body, attached, is_whole = read_tnef(document)
        parts = [_part(*body)] if body else []
        parts += [_file(name, content) for name, content in attached]
        lines = b"".join([b"--inner\n%b\n" % part for part in parts])  # no line of base64 is the boundary
        return b"Content-Type: multipart/mixed; boundary=inner\n\n%b--inner--\n" % lines if parts else b"", is_whole
