"""Write spamnb/reader/look_alikes.py: the letters of other scripts that look like a Latin letter.

    python scripts/build_look_alikes.py

The source is Unicode's table of confusable characters (UTS 39), as the library ICU has it (Debian: libicu72). A letter
looks like a Latin one if both have one skeleton; also as a capital, and without the marks of the skeleton, unless the
letter is itself Latin: "ø" is no "o".
"""

from __future__ import annotations

import ctypes
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase

LIBRARIES = Path("/usr/lib")  # and the folders in it
TARGET = Path(__file__).resolve().parents[1] / "spamnb" / "reader" / "look_alikes.py"


def skeleton_function() -> Callable[[str], str]:
    """Return ICU's function from a text to its skeleton. Names in ICU end with its version."""
    paths = sorted(LIBRARIES.rglob("libicui18n.so.[0-9][0-9]"))
    if not paths:
        sys.exit("no libicui18n in /usr/lib: install libicu72 or a newer version")
    version = paths[-1].name.rpartition(".")[2]
    library, error = ctypes.CDLL(str(paths[-1])), ctypes.c_int(0)
    open_checker, get_skeleton = library[f"uspoof_open_{version}"], library[f"uspoof_getSkeletonUTF8_{version}"]
    open_checker.restype = ctypes.c_void_p
    checker = ctypes.c_void_p(open_checker(ctypes.byref(error)))
    skeleton = ctypes.create_string_buffer(256)

    def skeleton_of(text: str) -> str:
        octets = text.encode()
        size = get_skeleton(checker, 0, octets, len(octets), skeleton, len(skeleton), ctypes.byref(error))
        return skeleton.raw[:size].decode()

    return skeleton_of


def without_accents(text: str) -> str:
    return "".join([char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char)])


def look_alikes() -> dict[str, str]:
    """Return for each Latin letter, in lower case, the letters that look like it, in lower case and without accents."""
    skeleton_of = skeleton_function()
    latin: dict[str, str] = {}
    for letter in ascii_lowercase + ascii_uppercase:  # "l" and "I" have one skeleton: it is read as "l"
        latin.setdefault(skeleton_of(letter), letter.lower())
    groups = dict.fromkeys(ascii_lowercase, "")
    for char in map(chr, range(128, 0x20000)):
        is_bare = unicodedata.category(char).startswith("L") and without_accents(char.casefold()) == char
        is_latin = unicodedata.name(char, "").startswith("LATIN")
        for form in (char, char.upper()) if is_bare else ():
            skeleton = skeleton_of(form)
            plain = skeleton if is_latin else without_accents(skeleton)
            if plain in latin:
                groups[latin[plain]] += char
                break
    return groups


if __name__ == "__main__":
    lines = [f"{letter} {chars}" for letter, chars in look_alikes().items()]
    docstring = '"""Letters that look like a Latin one, made by scripts/build_look_alikes.py."""'
    TARGET.write_text("\n".join([docstring, "", 'LOOK_ALIKES = """', *lines, '"""', ""]))
