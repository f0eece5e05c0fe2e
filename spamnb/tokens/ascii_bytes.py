"""What each byte is in words: the tables and bounds of ``ascii_words.py`` and ``word_scanner.py``."""

MAX_WORD = 30  # characters; a longer word is summarised by its first letter and its length
MAX_CUT_WORD = 64 * MAX_WORD  # characters of a word that is cut into parts
MAX_HOST = 60  # characters
MIN_SPACED = 4  # letters with one sign between each two that are a word: "V i a g r a", "V.i.a.g.r.a"
INNER_PUNCTUATION = "$'-.,!%_"  # may stand inside a word: prices, hosts, versions, don't
LEFT_TRIMMED = "'-.,!%_"
RIGHT_TRIMMED = "'-.,_$"
CUT_AT = "-.,!_"
NOT_SPELT = (CUT_AT + "'%").encode()  # what stands between the letters of a word that is spelt

# What a byte is: what it may be in a word, and what is done with it there.
UPPER, LOWER, DIGIT, INNER, NOT_ASCII, LEFT, RIGHT, CUTS = 1, 2, 4, 8, 16, 32, 64, 128
_ASCII = [chr(_i) for _i in range(128)]
BYTE_KIND = bytes(
    [
        (UPPER if char.isupper() else LOWER if char.islower() else DIGIT if char.isdigit() else 0)
        | (INNER if char in INNER_PUNCTUATION else 0)
        | (LEFT if char in LEFT_TRIMMED else 0)
        | (RIGHT if char in RIGHT_TRIMMED else 0)
        | (CUTS if char in CUT_AT else 0)
        for char in _ASCII
    ]
    + [NOT_ASCII] * 128
)
IS_PUNCTUATION = bytes([char.isprintable() and not char.isalnum() and char != " " for char in _ASCII] + [0] * 128)
# The bytes that are written for those of a word.
IDENTITY = bytes(range(256))
LOWER_CASE = IDENTITY.lower()
NUMBER_SHAPE = LOWER_CASE.translate(bytes.maketrans(b"123456789", b"000000000"))

# How a piece of a word is written: as it is, in lower case; its shape; that it is long; by the rules of its script.
PLAIN, SHAPE, LONG, OTHER = range(4)
