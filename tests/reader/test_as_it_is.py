"""Mail that is a little wrong, from reports to other programs, is repaired. Python's codecs are oracles."""

from __future__ import annotations

import base64
import codecs
import quopri
import random
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.reader.charsets import decode, find_codec
from spamnb.reader.message import Reader, arrival, parse

REAL = Path(__file__).with_name("real")
RIGHT = {
    "sogo380": "株式会社の件で① ok", "jakarta114": "縮尺㍉", "jp_nec": "こんにちは、会議の資料を送ります。① ㈱",
    "jp_hwkana": "こんにちは、会議の資料を送ります。ｶﾀｶﾅ", "hz_bad": "您好世界 ~x", "u7_plus": "Größe 1+1=2 C++ x",
    "b64garbage": "yötä vaan.", "mailpile1279": "Hello list, see you tomorrow", "fb1": "café \ufffd",
    "fb_short": "Ж\ufffd", "fb_eucjp": "無料①", "zb79": "中文邮件 内容", "meioc9": "Rimborso caffè",
    "spacecolon": "xy", "ietng766": "hi", "cte_text": "Grüße aus München, schöne Feier am Samstag!",
    "zb202": "Rechnung über", "enriched": "Now is the time <good>", "media_attrprint": "Shown visible",
    **dict.fromkeys(("media_all", "media_important", "media_minwidth", "media_onlyscreen", "media_screen"), "Shown"),
    "class_hidden": "Shown",
}  # fmt: skip
SUBJECTS = {
    "jp_subj_nec": "会議①", "raw1251": "Скидки на всё", "rawsjis": "無料プレゼント", "spacecolon": "spaced colon",
    "nm351": "[撤回邮件成功]撤回邮件测试", "ietng766": "news",
}  # fmt: skip
LINES = {"u8_l1footer": "Grüße aus Berlin", "cpy127794": "hello there", "mimekit522": "No such mailbox"}


def read(name: str) -> bytes:
    return (REAL / f"{name}.eml").read_bytes()


@pytest.mark.parametrize("name", RIGHT)
def test_texts_are_right(name: str) -> None:
    assert " ".join(" ".join(parse(read(name)).texts).split()) == RIGHT[name]


@pytest.mark.parametrize("name", SUBJECTS)
def test_subjects_are_right(name: str) -> None:
    assert parse(read(name)).header("subject") == SUBJECTS[name]


@pytest.mark.parametrize("name", LINES)
def test_lines_are_right(name: str) -> None:
    assert LINES[name] in "\n".join(parse(read(name)).texts).splitlines()


def test_what_clients_may_not_show_is_doubtful() -> None:
    for name, text in (
        ("mimekit522", "garbage"),
        ("cpy127794", "Invalid Header"),
        ("mailpile1279", "from the dev list"),
        ("rtf", "Hello world."),
        ("class_hidden", "poison"),
    ):
        message = parse(read(name))
        assert text in message.doubtful and text not in "".join(message.texts)
    assert parse(read("meioc9")).doubtful.strip() == "Rimborso caffè"  # the text alternative
    assert {"svg", "text", "x"} <= set(Reader().tokens(read("svgtitle"), doubtful=True))
    assert [text.strip() for text in parse(read("mimekit522")).texts] == ["No such mailbox"]


def test_dates_are_right() -> None:
    assert (arrival(read("dedup54")), arrival(read("nm117"))) == (1008257400, 1428714984)
    assert "café na" in parse(read("qp_split_escape")).texts[0]


# The labels of the WHATWG Encoding Standard, with Python's codecs where these have another name.
CODECS = {
    "gbk": "gb18030", "big5": "big5hkscs", "euc-kr": "cp949", "shift_jis": "cp932", "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic", "windows-874": "cp874", "iso-8859-8-i": "iso8859-8", "utf-16be": "utf-16-be",
}  # fmt: skip
# Python's utf-16 finds the byte order. The standard makes an error of charsets that browsers should not read.
OTHERS = {"csunicode", "iso-10646-ucs-2", "ucs-2", "unicode", "unicodefeff", "utf-16", "replacement", "x-user-defined"}
SEVEN_BIT = {"csiso2022kr": "iso2022_kr", "iso-2022-kr": "iso2022_kr", "iso-2022-cn": "iso2022_kr",
             "iso-2022-cn-ext": "iso2022_kr", "hz-gb-2312": "hz"}  # fmt: skip


def test_all_labels_of_the_encoding_standard_are_known() -> None:
    n_labels = 0
    for line in Path(__file__).with_name("encoding_labels.txt").read_text().splitlines():
        encoding, labels = line.split(": ")
        for label in labels.split():
            n_labels += 1
            expected = SEVEN_BIT.get(label) or CODECS.get(encoding, encoding)
            if label not in OTHERS:
                assert find_codec(label) == find_codec(label.upper()) == codecs.lookup(expected).name, label
    assert n_labels == 228


@pytest.mark.parametrize(("name", "codec"), [
    ("koi8r", "koi8-r"), ("gb-2312", "gb18030"), ("iso-2022-jp-ms", "iso2022_jp"), ("cp50220", "iso2022_jp"),
    ("cp50221", "iso2022_jp"), ("x-ms-cp932", "cp932"), ("134", "gb18030"), ("204", "cp1251"), ("win-1251", "cp1251"),
    ("GB2312_CHARSET", "gb18030"), ("CHINESEBIG5", "big5hkscs"), ("eucJP-ms", "euc_jp"), ("sjis-win", "cp932"),
    ("Shift_JISX0213", "cp932"), ("8859_5", "iso8859-5"), ("iso-latin-2", "iso8859-2"), ("microsoft-cp1251", "cp1251"),
    ("ansi-1250", "cp1250"), ("TIS-620.2533", "cp874"), ("windows-50221", "iso2022_jp"), ("JIS", "iso2022_jp"),
    ("x-mac-korean", "cp949"), ("iso-8859-2-windows-latin-2", "iso8859-2"), ("unicode-x", "cp1252"),
    ("ibm-943", "cp932"), ("cp33722", "euc_jp"), ("IBM-1386", "gb18030"),
    ("charset=windows-1251", "cp1251"), ("cyrillic-windows-1251", "cp1251"),
])  # fmt: skip
def test_names_in_mail_that_no_standard_has(name: str, codec: str) -> None:
    assert find_codec(name) == codec


SHIFTED = {"iso-2022-jp": "日本語カナ。漢字", "iso-2022-kr": "한국어무료", "hz": "免费中文邮件", "utf-7": "日本語é+~"}
DAMAGE = {"iso-2022-jp": b"\x1b$B\x7e\x7e\x1b(B", "iso-2022-kr": b"\x0e\x7d\x7d\x0f", "hz": b"~x", "utf-7": b"+1"}


@given(st.sampled_from(sorted(SHIFTED)), st.data())
def test_a_damaged_sequence_of_a_7_bit_charset_leaves_the_rest(charset: str, data: st.DataObject) -> None:
    letters = st.text(SHIFTED[charset] + "ab 12\n", min_size=1, max_size=20)
    before, after = data.draw(letters) + "\n", "\n" + data.draw(letters)
    octets = before.encode(charset)
    assert (decode(octets, charset) or octets.decode("ascii")) == before
    designation = b"\x1b$)C" if charset == "iso-2022-kr" else b""
    text = decode(octets + DAMAGE[charset] + after.encode(charset).removeprefix(designation), charset)
    if text is not None:
        assert text.startswith(before) and text.endswith(after)


PAIRS = [bytes([row, cell]) for row in range(0xA1, 0xFF) for cell in range(0xA1, 0xFF)]


@pytest.mark.parametrize(("charset", "oracle"), [("euc-jp", "euc_jp"), ("big5", "big5hkscs"), ("gb2312", "gbk")])
def test_pairs_are_those_of_python_and_others_of_larger_charsets(charset: str, oracle: str) -> None:
    n_more = 0
    for pair in PAIRS:
        text = decode(b"a" + pair + b"\xa4\xa2", charset)
        try:
            known = pair.decode(oracle)
        except UnicodeDecodeError:
            n_more += text is not None and "\ufffd" not in text
        else:
            assert text is None or text[1] == known
        assert text is None or len(text) >= 3
    assert n_more > 5


@pytest.mark.parametrize("charset", ["euc-jp", "big5", "gb2312", "euc-kr", "shift_jis", "johab"])
def test_a_byte_before_an_ascii_letter_leaves_the_letter(charset: str) -> None:
    for lead in range(0x81, 0xFF):
        for trail in b"@AZaz~":
            pair = bytes([lead, trail])
            try:
                pair.decode(CODECS.get(charset, charset))
            except UnicodeDecodeError:
                text = decode(pair, charset) or "\ufffd" + chr(trail)
                assert not text.isascii() and (text.endswith(chr(trail)) or len(text) == 1), (pair, text)


@pytest.mark.parametrize(("charset", "others"), [
    ("gb2312", b"\xff"), ("big5", b"\xff"), ("euc-kr", b"\xff"), ("euc-jp", b"\x80\x90\xa0\xff"),
])  # fmt: skip
def test_a_byte_that_begins_no_pair_leaves_the_next_pair(charset: str, others: bytes) -> None:
    words = {"gb2312": "免费邮件", "big5": "免費郵件", "euc-kr": "무료상담"}.get(charset, "無料の案内")
    octets = words.encode(CODECS.get(charset, charset))
    for byte in others:
        text = decode(octets[:4] + bytes([byte]) + octets[4:], charset)
        assert text == words[:2] + "\ufffd" + words[2:], byte


def test_the_byte_80_is_the_euro_sign_of_chinese_windows() -> None:
    assert decode("免费".encode("gbk") + b"\x80100", "gbk") == "免费€100"


@given(st.text("éжя日本語 ab", min_size=1, max_size=20), st.sampled_from(["utf-16", "utf-16le", "utf-32"]))
def test_utf_8_under_the_label_of_a_wide_charset_is_utf_8(words: str, label: str) -> None:
    assert parse(typed("text/plain", words).replace(b"utf-8", label.encode())).texts == (words,)


@pytest.mark.parametrize("label", ["windows 1251", '"Windows 1251"', "windows-1251 format=flowed"])
def test_a_name_may_have_a_blank_before_its_number(label: str) -> None:
    field = f"Content-Type: text/plain; charset={label}\n\n".encode()
    assert parse(field + "Скидки".encode("cp1251")).texts == ("Скидки",)


def test_a_page_may_name_its_charset_as_xml_does() -> None:
    octets = "Скидки".encode("koi8-r")
    for head in (
        b'<?xml version="1.0" encoding="koi8-r"?>', b"<?xml version='1.0'?><meta charset=koi8-r><i encoding=x></i>",
    ):  # fmt: skip
        assert parse(b"Content-Type: text/html\n\n" + head + octets).texts == ("Скидки",)


def test_parameters_may_have_no_type_before_them() -> None:
    field = b'Content-Type: boundary="b"\nContent-Disposition: filename="a.txt"\n\n'
    assert parse(b'Content-Disposition: filename="a.txt"\n\nx').attachments == (("a.txt", "text/plain"),)
    assert parse(field + b"--b\nContent-Type: text/html\n\n<b>x</b>\n--b--\n").texts == ("x",)


def test_row_13_of_nec_is_read_in_each_form() -> None:
    for point in "①⑳Ⅰ㍉㎜㈱":
        sjis = point.encode("cp932")
        row, cell = 2 * (sjis[0] - 0x81) + 0xA1 + (sjis[1] > 0x9E), 0
        cell = sjis[1] + 2 if sjis[1] > 0x9E else sjis[1] + 0x61 - (sjis[1] > 0x7F)
        assert decode(bytes([row, cell]), "euc-jp") == point
        assert decode(b"\x1b$B" + bytes([row & 127, cell & 127]) + b"\x1b(B", "iso-2022-jp") == point


def test_kanji_of_jis_x_0212_are_those_of_python() -> None:
    octets = "丂丄亜".encode("iso2022_jp_1")
    assert b"\x1b$(D" in octets and decode(octets, "iso-2022-jp") == "丂丄亜"


ESCAPES = [b"\x1b$(D", b"\x1b$B", b"\x1b$)A", b"\x0e", b"\x0f", b"~{", b"~}", b"+", b"\n", b"~", b"\x1b("]
CHARSETS = "iso-2022-jp iso-2022-kr hz utf-7 euc-jp big5 gbk euc-kr utf-16".split()


@given(st.lists(st.sampled_from(ESCAPES) | st.binary(max_size=4)).map(b"".join), st.sampled_from(CHARSETS))
def test_any_bytes_are_decoded(octets: bytes, charset: str) -> None:
    text = decode(octets, charset)
    assert text is None or text.encode() is not None


WORDS = st.text("абвжя äöüß日本 .\n", min_size=1, max_size=30)


@given(st.lists(st.one_of(WORDS, st.binary(min_size=1, max_size=3)), max_size=8))
@example(["Купите таблетки", b"\xff" * 40])
def test_valid_sequences_of_utf_8_stay(pieces: list[str | bytes]) -> None:
    octets = b" ".join(piece.encode() if isinstance(piece, str) else piece for piece in pieces).replace(b"\r", b"")
    coded = b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n" + base64.b64encode(octets)
    (text,) = parse(coded).texts
    is_other = b"\x1b" in octets or octets.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE))
    for piece in pieces:
        if isinstance(piece, str) and not is_other:
            assert piece.strip() in text.replace("\0", "")


def test_a_multipart_is_split_where_its_parts_begin() -> None:
    choice = random.Random(56)
    for number in range(300):
        boundary = "".join(choice.choices("abcXYZ019_=.", k=choice.randint(1, 30)))
        value = choice.choice(["", "boundary=", f'boundary="{boundary[:-1]}', f"boundary={boundary} x", "boundary=no"])
        value = choice.choice([value, f'boundary="\\{boundary}"', f"boundary (c) = (c) {boundary} (c)"])
        kind = choice.choice(
            ["multipart/mixed", "multipart / mixed", "(c(d)) Multipart/Mixed", "<multipart/related>", "multipart/x:"]
            + ["multipart", ""] * (boundary in value)
        )
        part = "Content-Type: text/html\n\n<b>pills"
        body = f"--{boundary}\n{part}{number}\n--{boundary}--\n".encode()
        encoding = choice.choice(["7bit", "base64", "quoted-printable"]) if boundary in value else "7bit"
        if encoding != "7bit":
            body = base64.encodebytes(body) if encoding == "base64" else quopri.encodestring(body)
        raw = f"Content-Type: {kind}; {value}\nContent-Transfer-Encoding: {encoding}\n\n".encode() + body
        assert parse(raw).texts == (f"pills{number}",), raw


# By label the codecs of the text that mail has under it.
TEXTS = {
    "iso-2022-jp": ("日本語の案内", "iso2022_jp", "euc_jp", "cp932", "utf-8"),
    "euc-jp": ("無料の御案内", "cp932", "iso2022_jp", "utf-8"),
    "shift_jis": ("無料の御案内", "euc_jp", "iso2022_jp", "utf-8"),
    "iso-2022-kr": ("무료상담", "iso2022_kr", "cp949", "utf-8"),
    "hz-gb-2312": ("免费中文邮件", "hz", "gb18030", "utf-8"), "utf-7": ("日本語é", "utf-7", "utf-8"),
    "windows-1251": ("Скидки", "cp1251"), "koi8-r": ("Скидки", "koi8-r"), "big5": ("免費郵件", "big5hkscs", "utf-8"),
    "gb2312": ("免费中文邮件", "gb18030", "utf-8"), "euc-kr": ("무료상담", "cp949", "utf-8"),
    "us-ascii": ("日本語の案内", "iso2022_jp"), "windows-1252": ("日本語の案内", "iso2022_jp"),
}  # fmt: skip


FORMS = ["charset={}", 'charset = "{}"', "Charset={} (c)", "format=flowed; charset='{}'"]


@st.composite
def labelled_texts(draw: st.DrawFn) -> tuple[str, str, str]:
    label = draw(st.sampled_from(sorted(TEXTS)))
    letters, *codecs_of_label = TEXTS[label]
    words = letters + draw(st.text(letters + " ab", max_size=20))
    return label, words, draw(st.sampled_from(codecs_of_label))


@given(labelled_texts(), st.sampled_from(FORMS))
@example(("shift_jis", "無料の御案内a", "euc_jp"), FORMS[0])  # it is valid Shift_JIS, of half-width katakana
@example(("iso-2022-jp", "確認、連絡、重要", "euc_jp"), FORMS[0])
@example(("shift_jis", "特別（商品）", "euc_jp"), FORMS[0])
@example(("shift_jis", "お知らせ", "utf-8"), FORMS[0])
def test_the_form_of_a_text_is_by_its_bytes(labelled: tuple[str, str, str], form: str) -> None:
    label, words, codec = labelled
    octets = words.encode(codec)
    field = f"Content-Type: text/plain; {form.format(label)}\n".encode()
    message = parse(b"Subject: " + octets + b"\n" + field + b"\n" + octets)
    assert message.texts == (words,)
    assert message.header("subject") == words.rstrip() or label in ("hz-gb-2312", "utf-7")


@given(st.text("".join(map(chr, range(0xFF66, 0xFFA0))) + "無料の ab", min_size=1))
@example("ﾃｽﾄ")
def test_half_width_katakana_are_read_as_labelled(text: str) -> None:
    octets = text.encode("cp932")
    assert (decode(octets, "shift_jis") or octets.decode("ascii")) == text


def test_half_width_katakana_without_their_label_are_no_latin_letters() -> None:
    assert decode("ﾃｽﾄ".encode("cp932"), "iso-2022-jp") == "ﾃｽﾄ"


@pytest.mark.parametrize("label", ["windows-1251", "koi8-r", "big5", "shift_jis", "gbk", "euc-kr"])
def test_8_bit_bytes_of_fields_are_in_a_charset_that_the_message_names(label: str) -> None:
    text = {"big5": "免費", "shift_jis": "無料", "gbk": "免费", "euc-kr": "무료"}.get(label, "Скидки")
    octets = text.encode(CODECS.get(label, label))
    word = b"=?" + label.encode() + b"?Q?" + octets + b"?="
    for field, body in (
        (b"From: " + word, b""), (b"Content-Type: text/plain; charset=us-ascii\nFrom: " + word, b""),
        (b"Content-Type: text/html", b"<meta content='text/html; charset=" + label.encode() + b"'>"),
    ):  # fmt: skip
        message = parse(b"Subject: " + octets + b"\n" + field + b"\n\n" + body)
        assert message.header("subject") == text and message.header("from") in ("", text)
    assert parse(b"Subject: " + word + b" " + octets + b"\n\n").header("subject") == f"{text} {text}"
    body_is_other = b"From: " + word + b"\nSubject: " + octets + b"\nContent-Type: text/plain; charset=utf-8\n\n"
    assert parse(body_is_other).header("subject") == text


@pytest.mark.parametrize("label", ["", "; charset=us-ascii", "; charset=unknown-8bit"])
@pytest.mark.parametrize(("charset", "text"), [("koi8-r", "Скидки на всё"), ("big5", "免費郵件"), ("gbk", "免费邮件")])
def test_8_bit_text_without_a_charset_is_in_one_that_the_message_names(charset: str, text: str, label: str) -> None:
    octets = text.encode(CODECS.get(charset, charset))
    subject = b"Subject: =?%b?B?%b?=\n" % (charset.encode(), base64.b64encode(octets))
    field = f"Content-Type: text/plain{label}\n\n".encode()
    assert parse(subject + field + octets).texts == (text,)
    page = quopri.encodestring(b"<meta content='text/html; charset=%b'>x" % charset.encode())
    parts = [field + octets, b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n" + page]
    raw = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + b"\n--b\n".join(parts) + b"\n--b--\n"
    assert parse(raw).texts == (text, "x")
    assert parse(field.replace(b"plain", b"html") + page.replace(b"=3D", b"=") + octets).texts == ("x" + text,)
    assert parse(field + b"caf\xe9").texts == ("café",)


@given(st.lists(st.text("ab é", max_size=5), max_size=5), st.integers(1, 3))
def test_line_feeds_that_were_converted_several_times_end_one_line(lines: list[str], times: int) -> None:
    raw = "\n".join(["Subject: x", "Content-Type: text/plain; charset=utf-8", "", *lines]).encode()
    assert parse(raw.replace(b"\n", b"\r" * times + b"\n")) == parse(raw)


def typed(kind: str, text: str) -> bytes:
    return f"Content-Type: {kind}; charset=utf-8\n\n{text}".encode()


@given(st.text("abc <>{}&;#\\é€\n-", max_size=40))
def test_rtf_is_the_text_that_was_put_into_it(text: str) -> None:
    escaped = "".join([
        f"\\{char}" if char in "\\{}" else "\\par\n" if char == "\n" else f"\\u{ord(char)}?" if char > "~" else char
        for char in text
    ])  # fmt: skip
    table = r"{\fonttbl{\f0 Arial;}}{\*\generator x {y};}\b "
    message = parse(typed("text/rtf", "{\\rtf1\\ansi" + table + escaped + "}"))
    assert message.doubtful == text and not "".join(message.texts)


@pytest.mark.parametrize(("words", "codec"), [
    ("Привет, мир", "cp1251"), ("Żółć", "cp1250"), ("您好", "cp936"), ("日本語①", "cp932"), ("é&amp;“", "cp1252"),
])  # fmt: skip
def test_bytes_of_rtf_are_in_its_code_page(words: str, codec: str) -> None:
    octets = words.encode(codec)
    escaped = "".join([f"\\'{byte:02x}" for byte in octets])
    head = f"{{\\rtf1\\ansi\\ansicpg{codec[2:]}\\deff0 "
    assert parse(typed("text/rtf", head + escaped + " \\u8364?}")).doubtful == words + " €"
    if len(octets) == len(words):  # second bytes may be braces and backslashes
        raw = f"Content-Type: text/rtf; charset={codec}\n\n{{\\rtf1 ".encode() + octets + b"}"
        assert parse(raw).doubtful == words


@pytest.mark.parametrize(("rtf", "text"), [
    (r"{\uc2 \u8364 EU}R", "€R"), (r"\uc0\u8364R", "€R"), (r"\u-10179?\u-8704?", "😀"),
    (r"\u8364 \'80R\uc9\u8364", "€R€"), (r"\ldblquote it\rquote s\rdblquote  \endash\bullet", "“it’s” –•"),
])  # fmt: skip
def test_signs_of_rtf_are_shown(rtf: str, text: str) -> None:
    assert parse(typed("text/rtf", "{\\rtf1\\ansi " + rtf + "}")).doubtful == text


def test_commands_of_richtext_are_line_ends_and_signs() -> None:
    assert parse(typed("text/richtext", "one<nl>two<NL><lt>b>")).texts == ("one\ntwo\n<b>",)


def test_control_words_of_rtf_with_hostile_numbers_end_nothing() -> None:
    for text, expected in (
        (r"{\rtf1 a\bin99999999999 b", "a"),
        (r"\u-3 ?b\'e9\'zz}}}c", "\ufffdbé\ufffdc"),
        (r"\u-70000 ?b", "\ufffdb"),
        ("\\", ""),
    ):
        assert parse(typed("text/rtf", text)).doubtful == expected


@given(st.text("abc <>é\n", max_size=40))
def test_enriched_text_is_read_without_its_commands(text: str) -> None:
    page = "<color><param>red</param>" + text.replace("<", "<<") + "</color>"
    assert "".join(parse(typed("text/enriched", page)).texts) == text


def test_text_in_base64_in_a_text_is_doubtful() -> None:
    words = "Your account has been suspended, please verify the password of your mailbox.\n" * 3
    lines = base64.encodebytes(words.encode()).decode()
    for body in (lines, f"see below\n{lines}\nregards\n"):
        message = parse(typed("text/plain", body))
        assert message.doubtful == words and "account" not in message.texts[0]
    chance = random.Random(1)
    for body in ("word\n" * 50, base64.encodebytes(chance.randbytes(3000)).decode(), "a" * 500, ""):
        assert not parse(typed("text/plain", body)).doubtful.strip("i\xb6\ufffd")
