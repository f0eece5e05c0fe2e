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

    Parameters
    ----------
    label : str
        The class.
    name : str
        The file or folder and the number of the message, with unprintable characters escaped.
    raw : bytes
        The raw mail. For a row of a table it is a blank line and the text.

    Examples
    --------
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
        """Parse the message as ``spamnb.parse`` does.

        Returns
        -------
        Message
            Headers, visible texts and links.
        """
        return parse(self.raw)


def read(
    sources: Sources,
    *,
    recursive: bool = False,
    text_column: str | None = None,
    label_column: str | None = None,
    tell: Tell = warn,
) -> Iterator[LabelledMessage]:
    """Read labelled messages one at a time, in the same order on every run.

    Parameters
    ----------
    sources : str, Path or list of these
        As for ``train``.
    recursive : bool
        As for ``train``.
    text_column : str or None
        The column of a table that has the text.
    label_column : str or None
        The column of a table that has the class.
    tell : callable
        Gets a line for each message that cannot be read and is skipped. By default this is a warning.

    Returns
    -------
    iterator of LabelledMessage
        The messages with their classes.

    Raises
    ------
    SpamnbError
        At once if a source does not exist, and during the iteration if a source has no readable message.

    Examples
    --------
    >>> import spamnb
    >>> for message in spamnb.read("corpora/mail"):
    ...     print(message.label, message.name, len(message.raw))
    ...     break
    ham corpora/mail/ham/0001.eml 1261

    To make a data frame: ``pandas.DataFrame(spamnb.read("corpora/mail"))``.
    """
    from spamnb.sources.spec import find_labelled_entries

    skipped = SkippedMessages(tell)
    options = ReadOptions(recursive, text_column, label_column)
    entries = find_labelled_entries(specs_of(sources), skipped, options)
    return (LabelledMessage(entry.label or "", entry.name, raw) for entry, raw in read_entries(entries, skipped))
