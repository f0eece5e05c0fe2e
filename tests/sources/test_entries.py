"""How the bytes of a message are read: gzip, ranges, limits of size, files that are none."""

import gzip
from pathlib import Path

import pytest

from spamnb.sources import entries


def test_unquoted_takes_one_mark_and_leaves_the_headers() -> None:
    raw = b"From a 1:00\n>From uucp!b\nSubject: x\n\n>From me\n>>From you\n> From\nx >From\n"
    assert entries.unquoted(raw) == b"From a 1:00\n>From uucp!b\nSubject: x\n\nFrom me\n>From you\n> From\nx >From\n"
    assert entries.unquoted(b"no body\n>From x\n") == b"no body\n>From x\n"


def test_contents_are_a_range_or_all_of_it_decompressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"0123456789")
    assert entries.contents(str(path)) == b"0123456789"
    assert entries.contents(str(path), 3, 5) == b"34"
    assert entries.contents(str(path), 8, 12) == b"89"  # shorter than asked for: the caller knows what that means
    for written in (gzip.compress(b"x" * 50_000) + gzip.compress(b"x" * 50_000), b"x" * 100_000):
        path.write_bytes(written)
        monkeypatch.setattr(entries, "MAX_MESSAGE", 100_000)
        assert entries.contents(str(path)) == b"x" * 100_000
        monkeypatch.setattr(entries, "MAX_MESSAGE", 99_999)
        with pytest.raises(OSError, match="longer than"):
            entries.contents(str(path))
    path.write_bytes(b"\x1f\x8b then nothing like it")
    with pytest.raises(OSError, match="broken gzip data"):
        entries.contents(str(path))


def test_what_is_left_out_is_told_once_and_named_once() -> None:
    told: list[str] = []
    left_out = entries.LeftOut(told.append)
    for error in (ValueError("imaps://a@b: no room"), ValueError("imaps://a@b: no room"), OSError(13, "not yours")):
        left_out("imaps://a@b", error)
    assert told == ["imaps://a@b: no room; left out", "imaps://a@b: not yours; left out"] and left_out.count == 3
