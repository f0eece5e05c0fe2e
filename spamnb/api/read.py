"""``spamnb.read``: labelled messages, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spamnb.api.arguments import Sources, Tell, specs_of, warn
from spamnb.reader.message import Message, parse
from spamnb.shown_text import pluralize
from spamnb.sources.entries import ReadOptions, SkippedMessages, read_entries


@dataclass(frozen=True, slots=True)
class LabelledMessage:
    """A message whose class is known.

    - ``label``: its class
    - ``name``: where it lies, for people: unprintable characters are escaped
    - ``raw``: its bytes, as it was received; of a table or a line of text, the text behind a blank line

    >>> message = LabelledMessage("ham", "note", b"Subject: tea\\n\\nAt four?\\n")
    >>> message, message.parse().header("subject")
    (LabelledMessage(label='ham', name='note', raw=<23 bytes>), 'tea')
    """

    label: str
    name: str
    raw: bytes

    def __repr__(self) -> str:
        return f"LabelledMessage(label={self.label!r}, name={self.name!r}, raw=<{pluralize(len(self.raw), 'byte')}>)"

    def parse(self) -> Message:
        """The message taken apart into headers and visible text, as ``spamnb.parse`` does; never raises."""
        return parse(self.raw)


def read(
    sources: Sources,
    *,
    recursive: bool = False,
    text_column: str | None = None,
    label_column: str | None = None,
    tell: Tell = warn,
) -> Iterator[LabelledMessage]:
    """The messages of the sources with their classes, one at a time, in the same order on every run.

    ``sources``, ``recursive``, ``text_column`` and ``label_column`` are as for ``train``. ``tell`` gets a line for each
    message that cannot be read and is left out; by default this is a warning.

    Raises SpamnbError at once if a source does not exist, and later if none of its files is mail.

    >>> import spamnb
    >>> for message in spamnb.read("corpora/mail"):
    ...     print(message.label, message.name, len(message.raw))
    ...     break
    ham corpora/mail/ham/0001.eml 1261

    A data frame takes them as they are: ``pandas.DataFrame(spamnb.read("corpora/mail"))``.
    """
    from spamnb.sources.spec import find_labelled_entries

    left_out = SkippedMessages(tell)
    options = ReadOptions(recursive, text_column, label_column)
    found = find_labelled_entries(specs_of(sources), left_out, options)
    return (LabelledMessage(entry.label or "", entry.name, raw) for entry, raw in read_entries(found, left_out))
