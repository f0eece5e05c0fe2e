"""Raw bytes → headers and visible text, and X-Spam fields in and out.

    parse        a message taken apart, and its digest
    headers      the header section
    mime         the parts, and what is said of each
    encodings    base64, quoted-printable, uuencode, encoded words
    charsets     bytes → text
    html, tags, css, sheets  what of HTML a person sees
    spam_fields  the X-Spam fields that a filter writes and takes out
"""
