"""Mail that this program writes itself, the digest: no model judges it as spam, and none learns it.

It holds subjects and words of spam, so it would pass for spam. It is known by a field that only whoever may write the
model can make: a code (HMAC of SHA-256) over its Message-ID, by a key that the model's file keeps.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable

from spamnb.classifier import Classifier
from spamnb.reader.message import header_of
from spamnb.reader.read_message import ReadMessage

FIELD = "X-Spamnb-Digest"
_MARK = FIELD.encode() + b":"
_HEAD = 65_536  # bytes in which the field is looked for
_KEY = "digest_key"  # in the model's meta


def signature(models: Iterable[Classifier], message_id: str) -> str:
    """What the field holds: a code for each model that is to know the message. A model without a key gets one, and so
    must be writable."""
    codes = []
    for model in models:
        key = model.store.meta().get(_KEY)
        if not isinstance(key, str):
            with model.store.writing():
                key = secrets.token_hex(32)
                model.store.put_meta({_KEY: key})
        codes.append(_code(key, message_id))
    return " ".join(codes)


def is_own(model: Classifier, message: bytes | ReadMessage) -> bool:
    """Whether a message is a digest that this model's owner made."""
    raw = message.raw if isinstance(message, ReadMessage) else message
    if raw.find(_MARK, 0, _HEAD) < 0:  # 2 µs; the rest is for digests, and for who would pass for one
        return False
    key = model.store.meta().get(_KEY)
    if not isinstance(key, str):
        return False
    code = _code(key, header_of(raw, "message-id"))
    told = header_of(raw, FIELD.lower())[:1000].split()
    return any(hmac.compare_digest(code, each.encode("ascii", "replace").decode()) for each in told)


def learn_unless_own(model: Classifier, label: str, raw: bytes, *, taught: bool = True) -> bool:
    """``Classifier.learn`` for mail of any kind, moved or taught by a reader's button; a digest is none to learn."""
    return not is_own(model, raw) and model.learn(label, raw, taught=taught)


def _code(key: str, message_id: str) -> str:
    return hmac.new(key.encode(), message_id.strip().encode("utf-8", "replace"), "sha256").hexdigest()
