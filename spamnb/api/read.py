"""``spamnb.read``: labelled messages, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spamnb.api.arguments import Sources, Tell, list_specs, warn
from spamnb.reader.message import Message, parse
from spamnb.shown_text import pluralize
from spamnb.sources.entries import ReadOptions, SkippedMessages, read_entries


@dataclass(frozen=True, slots=True)
class LabelledMessage:
    """A message with its class.

    Parameters
    ----------
    label : str
        The class.
    name : str
        The file or folder, with a number if it can have several messages. Unprintable characters are escaped.
    raw : bytes
        The raw mail. For a row of a table, an empty line, which ends the missing header, and the text of the row.

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
    """Read labelled messages one at a time. The order is the same on every run.

    Parameters
    ----------
    sources, recursive, text_column, label_column, tell : path, list of paths, bool, str or callable
        As in ``train``.

    Returns
    -------
    iterator of LabelledMessage
        The messages with their classes.

    Raises
    ------
    SpamnbError
        If a source does not exist. During the iteration, if a source has no readable message.

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
    entries = find_labelled_entries(list_specs(sources), skipped, options)
    return (LabelledMessage(entry.label or "", entry.name, raw) for entry, raw in read_entries(entries, skipped))
