"""Folders and messages of a mailbox of any kind; the names of folders on disk, and in the languages of mail programs.

On disk, names are in IMAP's modified UTF-7 (not Python's ``utf-7``), in which ``&...-`` is a shift: UTF-16 in base64.
https://www.rfc-editor.org/rfc/rfc3501#section-5.1.3
"""

from __future__ import annotations

import re
import unicodedata
from binascii import Error, a2b_base64, b2a_base64
from typing import Any, NamedTuple

#: Roles of folders with mail that is not wanted or not sent yet; ``--recursive`` leaves these folders out.
SPAM = "spam"  # the role of the one folder of spam, and of folders in it
NOT_WANTED = frozenset({"junk", "trash", "drafts", "templates"})


class Folder(NamedTuple):
    """A folder of a mailbox."""

    name: str  # for people
    path: Any  # in the file system, or on the server
    role: str | None = None  # a role of `folder_role`, "inbox", "archive" or SPAM
    key: str = ""  # identifies the folder in its mailbox


class MailboxMessage(NamedTuple):
    """A message in a folder."""

    folder: Folder
    key: str  # identifies the message while it is in this folder, even if its flags change
    name: str  # for people
    location: Any  # the path of its file, or its `Uid`


# Names of folders and labels by their role, in Thunderbird, Outlook, Apple Mail, Gmail and IMAP servers.
_NAMES = {
    "junk": """
        junk|spam|bulk|bulk mail|junk mail|junk email|junk e mail|unwanted|unsolicited|probably spam|
        unerwünscht|unerwünschte werbung|unerwünschte mails|spamverdacht|indésirable|indésirables|pourriel|
        courrier indésirable|courriers indésirables|correo no deseado|correo basura|no deseado|
        posta indesiderata|indesiderata|ongewenst|ongewenste e mail|ongewenste mail|ongewenste reclame|
        lixo eletrônico|lixo eletrónico|lixo electrónico|correo lixo|correu brossa|niechciane|niechciana poczta|
        wiadomości śmieci|śmieci|спам|нежелательная почта|небажана пошта|небажані|нежелана поща|
        nevyžádaná pošta|nevyžádané|nevyžiadaná pošta|neželena pošta|neželjena pošta|skräppost|skräp|
        uønsket|uønsket mail|uønsket post|uønsket e post|søppelpost|søppel e post|useriøst|roskaposti|roskapostit|
        levélszemét|önemsiz|önemsiz e posta|gereksiz|ανεπιθύμητα|ανεπιθύμητη αλληλογραφία|nesolicitate|
        mesaje nedorite|rämpspost|mēstules|šlamštas|迷惑メール|垃圾邮件|垃圾郵件|垃圾信件|
        스팸|스팸함|스팸 메일|정크 메일|
        thư rác|สแปม|อีเมลขยะ|דואר זבל|ספאם|البريد العشوائي|البريد غير الهام|غير مرغوب فيه|هرزنامه""",
    "trash": """
        trash|bin|deleted|deleted items|deleted messages|papierkorb|gelöscht|gelöschte elemente|gelöschte objekte|
        corbeille|éléments supprimés|messages supprimés|supprimés|papelera|papelera de reciclaje|eliminados|
        elementos eliminados|mensajes eliminados|cestino|posta eliminata|prullenbak|prullenmand|verwijderd|
        verwijderde items|lixeira|lixo|itens excluídos|itens eliminados|mensagens excluídas|paperera|kosz|
        elementy usunięte|usunięte|корзина|удаленные|удалённые|кошик|видалені|koš|odstraněná pošta|
        odstraněná|kôš|smeti|smeće|papperskorg|papperskorgen|borttaget|borttagna objekt|papirkurv|papirkurven|
        papirkorg|slettede elementer|slettet post|slettet|roskakori|poistetut|lomtár|kuka|törölt elemek|
        çöp|çöp kutusu|silinmiş öğeler|silinmiş|κάδος απορριμμάτων|απορρίμματα|διαγραμμένα|coș de gunoi|
        coş de gunoi|gunoi|prügikast|šiukšlinė|miskaste|ゴミ箱|ごみ箱|削除済みアイテム|已删除|已删除邮件|
        废件箱|回收站|垃圾桶|
        刪除的郵件|휴지통|지운 편지함|thùng rác|ถังขยะ|אשפה|المهملات|سلة المهملات|زباله‌دان""",
    "drafts": """
        draft|drafts|entwurf|entwürfe|brouillon|brouillons|borrador|borradores|bozza|bozze|concepten|
        rascunho|rascunhos|esborranys|szkice|kopie robocze|wersje robocze|черновики|чернетки|чернови|koncepty|
        rozepsané|rozepsaná pošta|osnutki|skice|utkast|kladde|kladder|luonnos|luonnokset|piszkozatok|taslak|
        taslaklar|πρόχειρα|ciorne|mustandid|juodraščiai|melnraksti|下書き|草稿|草稿箱|草稿匣|초안|
        임시 보관함|임시보관함|
        thư nháp|bản nháp|ร่าง|טיוטות|المسودات|مسودات""",
    "templates": """
        template|templates|vorlage|vorlagen|modèles|plantillas|modelli|sjablonen|modelos|szablony|шаблоны|
        шаблони|šablony|šablóny|predloge|mallar|skabeloner|mallit|viestipohjat|sablonok|şablonlar|πρότυπα|
        șabloane|テンプレート|模板|范本|範本|서식|템플릿""",
    "sent": """
        sent|sent mail|sent items|sent messages|gesendet|gesendete elemente|gesendete objekte|gesendete nachrichten|
        envoyé|envoyés|éléments envoyés|messages envoyés|enviado|enviados|elementos enviados|mensajes enviados|
        inviata|inviati|posta inviata|messaggi inviati|verzonden|verzonden items|verzonden berichten|
        itens enviados|mensagens enviadas|e mails enviados|enviats|wysłane|elementy wysłane|отправленные|
        надіслані|відправлені|изпратени|odeslaná pošta|odeslaná|odeslané|odoslané|odoslaná pošta|poslano|poslane|
        skickat|skickade|skickade objekt|sendt|sendte|sendt post|sendte elementer|lähetetyt|elküldött|
        elküldött elemek|gönderilmiş|gönderilenler|gönderilmiş postalar|gönderilmiş öğeler|απεσταλμένα|
        trimise|mesaje trimise|saadetud|išsiųsti|nosūtītās|送信済み|送信済みメール|送信済みトレイ|
        已发送|已发送邮件|已发邮件|
        寄件備份|寄件備份匣|已傳送|보낸 편지함|보낸편지함|보낸 메일함|đã gửi|thư đã gửi|ส่งแล้ว|דואר שנשלח|נשלח|
        البريد المرسل|المرسلة|مرسل""",
    "outbox": """
        outbox|unsent messages|unsent|queue|postausgang|boîte d'envoi|bandeja de salida|buzón de salida|
        posta in uscita|in uscita|postvak uit|caixa de saída|skrzynka nadawcza|исходящие|вихідні|pošta k odeslání|
        utkorg|udbakke|utboks|lähtevät|postázandó üzenetek|giden kutusu|送信トレイ|送信箱|发件箱|寄件匣|보낼 편지함""",
    "chats": """
        chat|chats|czaty|чаты|чати|chattar|チャット|聊天|채팅|sohbetler""",
    "all": """
        all mail|alle nachrichten|tous les messages|todos|todo el correo|tutti i messaggi|alle berichten|alle e mail|
        todos os e mails|todo o correio|wszystkie|вся почта|уся пошта|všechny zprávy|alla mail|alla mejl|al post|
        all e post|kaikki viestit|összes levél|tüm postalar|όλα τα μηνύματα|すべてのメール|
        所有邮件|全部郵件|전체보관함""",
}


def _normalize(name: str) -> str:
    """Return a name in lower case, in Unicode's form NFC, and with single spaces between words."""
    return re.sub(r"[\s_.\-]+", " ", unicodedata.normalize("NFC", name).casefold()).strip()


_ROLES = {_normalize(name): role for role, names in _NAMES.items() for name in names.split("|")}


def folder_role(name: str) -> str | None:
    """Return the role of a folder or label of this name, or None if it has none.

    Roles are junk, trash, drafts, templates, sent, outbox, chats, and "all", which is Gmail's copy of all mail.

    >>> folder_role("Junk E-mail"), folder_role("&BCEEPwQwBDw-"), folder_role("Entw&APw-rfe"), folder_role("Work")
    ('junk', 'junk', 'drafts', None)
    """
    return _ROLES.get(_normalize(decode_name(name)))


_SHIFT = re.compile(r"&([A-Za-z0-9+,]{0,400})-")  # a name on disk has at most 255 bytes
_CHARACTERS_TO_SHIFT = re.compile(r"&|[^ -~]+")


def decode_name(name: str) -> str:
    """Return the name of a folder for people. A name that is not encoded is returned unchanged.

    >>> decode_name("Entw&APw-rfe"), decode_name("R&-D"), decode_name("Tom & Jerry")
    ('Entwürfe', 'R&D', 'Tom & Jerry')
    """
    return _SHIFT.sub(_decode_shift, name)


def encode_name(name: str) -> str:
    """Return the name of a folder on disk. A name that is encoded already is returned unchanged.

    >>> encode_name("Entwürfe"), encode_name("R&D"), encode_name("Entw&APw-rfe")
    ('Entw&APw-rfe', 'R&-D', 'Entw&APw-rfe')
    """
    plain = decode_name(name)
    if plain != name and _CHARACTERS_TO_SHIFT.sub(_encode_shift, plain) == name:
        return name
    return _CHARACTERS_TO_SHIFT.sub(_encode_shift, name)


def _decode_shift(match: re.Match[str]) -> str:
    letters = match[1].replace(",", "/")
    try:
        return a2b_base64(letters + "=" * (-len(letters) % 4)).decode("utf-16-be") if letters else "&"
    except (Error, UnicodeDecodeError):
        return match[0]


def _encode_shift(match: re.Match[str]) -> str:
    if match[0] == "&":
        return "&-"
    letters = b2a_base64(match[0].encode("utf-16-be", "surrogatepass"), newline=False).decode("ascii")
    return f"&{letters.rstrip('=').replace('/', ',')}-"
