"""What a model learned since another as lines of JSON: the same lines for the same difference.

    {"spamnb": 4, "meta": {...}, "since": {"messages": 3000, "sample": ["0012...", ...]}}
    {"message": "5f...", "before": null, "after": {"class": "spam", "taught": true, ...}, "tokens": {"offer": 2, ...}}
    {"token": "tea", "counts": {"ham": [-1, -2]}}
    {"end": true}

A message whose tokens are not known has no "tokens": the lines of tokens are the sum of these messages. "lesson" is by
what a message that the model keeps in tokens is known again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from spamnb.errors import SpamnbError
from spamnb.naming import check_class_name, escape
from spamnb.store.correction_sums import MAX_UNITS
from spamnb.store.delta import SAMPLE, ChangedMessage, Delta, MessageState, TokenSum
from spamnb.store.jsonl import json_line, parse_digest, parse_units, whole_number
from spamnb.store.learned import LearnedMessage, are_bins
from spamnb.store.pages import MAX_COUNT, MAX_TOKEN_BYTES

DELTA_VERSION = 4  # of the first line; versions before are of whole models


def delta_lines(delta: Delta) -> Iterator[str]:
    """A delta as lines."""
    since = {"messages": delta.base_messages, "sample": [digest.hex() for digest in delta.sample]}
    yield json_line({"spamnb": DELTA_VERSION, "meta": delta.meta, "since": since})
    for message in delta.messages:
        record: dict[str, Any] = {"message": message.digest.hex()}
        record |= {"before": _state_record(message.before), "after": _state_record(message.after)}
        if message.tokens is not None:
            record["tokens"] = dict(message.tokens)
        if message.identity is not None:
            record["lesson"] = message.identity.hex()
        yield json_line(record)
    for token, (counts, units) in delta.rest.items():
        yield json_line({"token": token, "counts": dict(counts), **({"correction": dict(units)} if units else {})})
    yield json_line({"end": True})


def _state_record(state: MessageState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    label, taught, bins = state.learned
    scored = {} if bins is None else {"bins": bins}
    return {"class": label, "taught": taught, **scored, **({"brought": dict(state.brought)} if state.brought else {})}


def is_delta(first_line: str) -> bool:
    """Is that the first line of a delta, and not of a model?

    >>> is_delta('{"spamnb": 4, "meta": {}, "since": {}}'), is_delta('{"spamnb": 2, "meta": {}}'), is_delta("[")
    (True, False, False)
    """
    try:
        record = json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and "since" in record


def parse_delta(lines: Iterable[str], name: str) -> Delta:
    """What ``delta_lines`` wrote. Raises SpamnbError naming the line that is not of it."""
    meta: dict[str, Any] = {}
    base_messages, sample, ended = 0, list[bytes](), False
    messages: dict[bytes, ChangedMessage] = {}
    rest: dict[str, TokenSum] = {}
    for number, line in enumerate(lines, 1):
        try:
            if ended:
                raise ValueError("there is more after its end")
            record = json.loads(line)
            if number == 1:
                if record["spamnb"] != DELTA_VERSION:
                    version = ascii(record["spamnb"])[:20]
                    raise SpamnbError(f"{name}: made by another spamnb (lines {version}); all hosts need the same one")
                meta, since = dict(record["meta"]), record["since"]
                base_messages = whole_number(since["messages"])
                sample = [parse_digest(digest) for digest in since["sample"][:SAMPLE]]
            elif "message" in record:
                message = _message(record)
                if messages and message.digest <= next(reversed(messages)):
                    raise ValueError("a message that is not in order")
                messages[message.digest] = message
            elif "token" in record:
                counts = {check_class_name(c): _pair(*pair) for c, pair in record["counts"].items()}
                rest[_token(record["token"])] = TokenSum(counts, parse_units(record.get("correction", {}), MAX_UNITS))
            elif "end" in record:
                ended = True
            else:
                raise ValueError("unknown record")
            if "\\u" in line:  # UnicodeEncodeError, a ValueError, for half a surrogate pair
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            what = f"line {number} is not of 'spamnb export --since' ({escape(str(error))})"
            raise SpamnbError(f"{name}: {what}") from None
    if not ended:
        raise SpamnbError(f"{name}: cut short, its last line is missing; export it again")
    return Delta(meta, base_messages, sample, list(messages.values()), rest)


def _message(record: dict[str, Any]) -> ChangedMessage:
    tokens, identity = record.get("tokens"), record.get("lesson")
    return ChangedMessage(
        parse_digest(record["message"]),
        _state(record["before"]),
        _state(record["after"]),
        None if tokens is None else {_token(token): whole_number(n, least=1) for token, n in tokens.items()},
        None if identity is None or tokens is None else parse_digest(identity),
    )


def _state(record: dict[str, Any] | None) -> MessageState | None:
    if record is None:
        return None
    bins = record.get("bins")
    if bins is not None and not are_bins(bins):
        raise ValueError("bins that are none of the calibration's")
    units = {name: n for name, n in parse_units(record.get("brought", {}), MAX_UNITS).items() if n}
    return MessageState(LearnedMessage(check_class_name(record["class"]), bool(record["taught"]), bins), units)


def _token(token: str) -> str:
    if len(token.encode()) > MAX_TOKEN_BYTES:
        raise ValueError("a token that is too long")
    return token


def _pair(held: int, occurring: int) -> tuple[int, int]:
    return whole_number(held, MAX_COUNT, -MAX_COUNT), whole_number(occurring, MAX_COUNT, -MAX_COUNT)
