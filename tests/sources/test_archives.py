"""Messages in tar and ZIP archives, against the same files in folders; what is broken, hostile or no mail."""

import io
import random
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from mail import folders, mail
from reading import Unreadable
from reading import read as read_with_names

from spamnb.errors import SpamnbError
from spamnb.sources import archives, entries

PDF = b"%PDF-1.7"
GOOD = b"Subject: tea\n\nAt four?\n"
KINDS = [".tar", ".tar.gz", ".tgz", ".zip"]


def read(*specs: object, unreadable: Unreadable | None = None) -> list[tuple[str | None, bytes]]:
    return [(label, raw) for label, _, raw in read_with_names(*specs, unreadable=unreadable)]


def archive(path: Path, files: dict[str, bytes]) -> Path:
    if path.name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as made:
            for number, (name, content) in enumerate(files.items()):
                made.writestr(name, content, zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED)
        return path
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("above", ["", "corpus/", "./"])
def test_an_archive_is_read_as_the_folder_that_was_packed(tmp_path: Path, kind: str, above: str) -> None:
    root = folders(tmp_path / "mail", mail(9))
    below = [path for path in sorted(root.rglob("*")) if path.is_file()]
    files = {f"{above}{path.relative_to(root)}": path.read_bytes() for path in below}
    more = {f"{above}ham/.hidden": b"x", f"{above}ham/cmds": b"mv", f"{above}spam/empty": b""}
    packed = archive(tmp_path / f"corpus{kind}", files | more)
    assert read(packed) == read(root) and len(read(packed)) == 18
    of_ham = {name: content for name, content in files.items() if "ham/" in name}
    apple = {f"{above}ham/9999.emlx": b"%d\n%b" % (len(GOOD), GOOD)}
    own = archive(tmp_path / f"own{kind}", of_ham | apple)
    assert read(f"ham={own}") == [*read(f"ham={root / 'ham'}"), ("ham", GOOD)]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_message_is_named_and_left_out(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MESSAGE", 5000)
    files = {"ham/a": GOOD, "ham/long": GOOD * 1000, "ham/all.mbox": b"From x\n", "top": GOOD, "ham/program": PDF}
    told: Unreadable = []
    assert read(archive(tmp_path / f"mail{kind}", files), unreadable=told) == [("ham", GOOD)]
    said = "longer than", "an archive, mailbox or table within an archive", "beside the class", "a PDF document"
    assert len(told) == 4 and all(any(each in str(error) for _, error in told) for each in said)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_archive_or_ends_too_early_is_an_error_in_one_line(tmp_path: Path, kind: str) -> None:
    texts = {f"ham/{n}": b"Subject: x\n\n" + random.Random(n).randbytes(900).hex().encode() for n in range(40)}
    whole = archive(tmp_path / f"whole{kind}", texts)
    (tmp_path / f"noise{kind}").write_bytes(b"no archive at all " * 100)
    (tmp_path / f"half{kind}").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2 + 700])
    with pytest.raises(SpamnbError, match=f"noise{kind}: no archive that can be read"):
        read(f"ham={tmp_path / f'noise{kind}'}")
    half = f"ham={tmp_path / f'half{kind}'}"
    if kind == ".zip":  # its directory stands at its end
        with pytest.raises(SpamnbError, match="no archive that can be read"):
            read(half)
    else:
        told: Unreadable = []
        assert read(half, unreadable=told) and told


def test_a_bomb_and_an_encrypted_message_are_named_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = archive(tmp_path / "mail.zip", {"a": GOOD, "b": GOOD + b"x" * (1 << 20), "c": GOOD})
    content = bytearray(packed.read_bytes())
    struct.pack_into("<H", content, content.index(b"PK\x01\x02") + 8, 1)  # the directory says: encrypted
    size = content.index(struct.pack("<L", len(GOOD) + (1 << 20)), content.index(b"PK\x01\x02"))
    struct.pack_into("<L", content, size, 70_000)  # and that the bomb is small
    packed.write_bytes(content)
    for module in (archives, entries):
        monkeypatch.setattr(module, "MAX_MESSAGE", 1 << 16)
    told: Unreadable = []
    assert read(f"ham={packed}", unreadable=told) == [("ham", GOOD)]
    assert len(told) == 2 and "encrypted" in str(told[0]) and "the bound on one message" in str(told[1])


def _long_name(path: Path) -> None:
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        member = tarfile.TarInfo("././@LongLink")
        member.type, member.size = tarfile.GNUTYPE_LONGNAME, 1 << 40
        tar.addfile(member)


def _link(path: Path) -> None:
    with tarfile.open(path, "w") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            member = tarfile.TarInfo("ham/a")
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)


@pytest.mark.parametrize("make", [_long_name, _link])
def test_a_header_of_a_terabyte_and_links_out_of_the_archive_give_nothing(
    tmp_path: Path, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_MAX_READ", 1 << 16)
    make(tmp_path / "mail.tar")
    told: list[str] = []
    found = archives.archive_entries("ham", str(tmp_path / "mail.tar"), lambda name, error: told.append(str(error)))
    assert not list(found)
