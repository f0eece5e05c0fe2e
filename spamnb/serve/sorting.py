"""New mail of a mailbox, judged once: spam goes to its folder, the rest stays. Maildirs and accounts go the same way.

What was judged is known to a ``Memory``, which also makes the moves, so that none is taken for a person's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from spamnb.reader.message import digest
from spamnb.serve.score import Score
from spamnb.sources.mailbox import Folder, Mailbox, MailboxMessage

#: {message: where it lies now, if that is known}, of those that were moved
Moved = dict[MailboxMessage, MailboxMessage | None]


class Memory(Protocol):
    """What is known of a mailbox's messages: which were judged, and which moves were this program's."""

    at_once: int  # messages that one step moves

    def alone(self, patience: float = 60.0) -> AbstractContextManager[None]:
        """While no other process moves mail here that must not."""

    def unjudged(self, everything: bool) -> Sequence[MailboxMessage]:
        """What is to be judged: new mail, or all there is."""

    def judged(self, digest: bytes) -> bool:
        """Whether a message of this content was judged at some time, wherever it was since."""

    def keep(self, message: MailboxMessage, digest: bytes) -> None:
        """The message was judged and stays where it is."""

    def gone(self, message: MailboxMessage) -> None:
        """The message is no longer there."""

    def move(
        self, messages: Sequence[tuple[MailboxMessage, bytes, bytes]], into: Folder
    ) -> Moved | None:
        """Move messages, each with its content and digest; those that were still there. None where a reader moved one
        on since, or the server would not."""

    def take_for_seen(self) -> int:
        """Judge none of what is there; how many messages that are."""

    def finish(self) -> None:
        """All that there was to judge has been judged."""


class Sorted(NamedTuple):
    """A message that was judged: what was found, where it went (None: it stays), and where it lies now, if known."""

    message: MailboxMessage
    raw: bytes
    found: Score
    into: Folder | None
    after: MailboxMessage | None = None


def sort_mail(
    box: Mailbox,
    memory: Memory,
    judge: Callable[[bytes], Score],
    folders: Mapping[str, Folder],
    on_unreadable: Callable[[str, Exception], None],
    *,
    everything: bool = False,
    dry_run: bool = False,
    change: Callable[[MailboxMessage, bytes, Score], MailboxMessage] | None = None,
) -> Iterator[Sorted]:
    """Judge new mail and move it to the folder of its verdict, where there is one; ``change`` may alter what stays.

    What a person moved back is not judged again. ``dry_run`` leaves mail alone; its memory should be a copy.
    """
    here: set[bytes] = set()  # judged by this run: what comes again is a second copy, which no person moved back
    waiting: dict[str, list[tuple[Sorted, bytes]]] = {}  # by verdict

    def moved(verdict: str) -> Iterator[Sorted]:
        each = waiting.pop(verdict)
        if dry_run:  # its record is a copy, where they are done with
            for one, known in each:
                memory.keep(one.message, known)
        else:
            after = memory.move([(one.message, one.raw, known) for one, known in each], folders[verdict]) or {}
            each = [(one._replace(after=after[one.message]), known) for one, known in each if one.message in after]
        yield from (one for one, _ in each)

    for message, raw in box.read(memory.unjudged(everything)):
        if isinstance(raw, FileNotFoundError):
            memory.gone(message)
            continue
        if isinstance(raw, OSError):
            on_unreadable(message.name, raw)
            continue
        known = digest(raw)
        if not everything and known not in here and memory.judged(known):
            memory.keep(message, known)
            continue
        found = judge(raw)
        here.add(known)
        into = folders.get(found.verdict)
        if into is None:
            try:
                after = change(message, raw, found) if change and not dry_run else message
            except FileNotFoundError:
                continue  # a mail reader moved it on since it was listed
            except OSError as error:
                on_unreadable(message.name, error)
                continue
            memory.keep(after, known)
            yield Sorted(message, raw, found, None, after)
            continue
        waiting.setdefault(found.verdict, []).append((Sorted(message, raw, found, into), known))
        if len(waiting[found.verdict]) >= memory.at_once:
            yield from moved(found.verdict)
    for verdict in list(waiting):
        yield from moved(verdict)
    memory.finish()
