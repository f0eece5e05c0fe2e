/* Header sections: fields, parameters, encoded words. */
#include "reader.h"

enum {
    MAX_FIELDS = 1000, /* with one essential name, and with all other names; ordinary mail: 125 in all */
    MAX_VALUE = 1 << 18, /* bytes of a field's value; ordinary mail: 24,540 */
    MAX_BROKEN = 1 << 14, /* bytes after a line that is no field, in which fields are searched for; messages of 20
                           * Newsgroups need at most 439 */
    MAX_PARAMETER_BYTES = 10000, /* of a value with parameters; ordinary mail: 810, except for one message with 14,285 */
    MAX_CONTINUATIONS = 100, /* of a parameter; the longest filename, percent-encoded, has 13 lines of 78 bytes */
    MAX_CHARSET_BYTES = 1 << 16, /* of a message in which a charset is searched for; the first part begins before */
    MAX_WORD_CHARSET = 75, /* bytes of a charset's name: a whole encoded word has at most 75 (RFC 2047) */
};

span drop_middle(struct arena *arena, span text, size_t n, uint8_t between) {
    if (size_of(text) <= n)
        return text;
    const uint8_t *last = text.end - n / 2;
    while (last < text.end && (*last & 0xC0) == 0x80)
        last++;
    span first = concatenate(arena, truncate_text(text, n - n / 2 - 1), span_of(&between, 1));
    return concatenate(arena, first, span_between(last, text.end));
}

span convert_line_ends(struct arena *arena, span text) {
    if (!find_byte(text, '\r'))
        return text;
    struct writer writer = writer_open(arena, size_of(text));
    while (!is_empty(text)) {
        span line = before_first(text, '\r');
        put_span(&writer, line);
        text.at = line.end;
        if (is_empty(text))
            break;
        while (text.at < text.end && *text.at == '\r')
            text.at++;
        bool is_one = starts_with(text, LITERAL("\n")); /* CR CR LF, which programs write that convert LF twice */
        for (size_t n = is_one ? 1 : size_of(span_between(line.end, text.at)); n; n--)
            put_byte(&writer, '\n');
        text = skip_bytes(text, is_one);
    }
    return writer_close(&writer);
}

/* Names of the fields that show that a text is mail. A name that ends with "-" stands for all names with this
 * beginning. The first N_ESSENTIAL names are essential. */
static const char *const MAIL_FIELDS[] = {
    "subject", "from", "to", "cc", "sender", "reply-to", "received", "date", "message-id", "content-type",
    "content-transfer-encoding", "content-disposition", "list-", "bcc", "return-path", "in-reply-to", "references",
    "mime-version", "content-", "lines", "organization", "organisation", "newsgroups", "path", "xref", "delivered-to",
    "errors-to", "precedence", "importance", "priority", "status", "user-agent", "dkim-signature",
    "authentication-results", "envelope-to", "keywords", "approved", "x-",
};

enum { N_ESSENTIAL = 13, N_MAIL_FIELDS = COUNT_OF(MAIL_FIELDS) };

/* Returns the number of a name in MAIL_FIELDS, ignoring the case of letters; N_MAIL_FIELDS for other names. */
static size_t mail_field(span name) {
    for (size_t i = 0; i < N_MAIL_FIELDS; i++) {
        if (is_empty(name) || to_lower(*name.at) != (uint8_t)*MAIL_FIELDS[i])
            continue;
        span field = span_of_text(MAIL_FIELDS[i]);
        if (starts_with_any_case(name, field) && (field.end[-1] == '-' || size_of(name) == size_of(field)))
            return i;
    }
    return N_MAIL_FIELDS;
}

/* Returns the name of the field that begins with this line; an empty span if the line begins no field. Only a name
 * "Content-..." may have blanks before its colon, unless may_have_blanks: text such as "re : x" is no field. */
static span field_name(span line, bool may_have_blanks) {
    const uint8_t *at = line.at, *colon;
    while (at < line.end && *at > ' ' && *at < 127 && *at != ':')
        at++;
    span name = span_between(line.at, at);
    for (colon = at; colon < line.end && is_blank(*colon); colon++)
        continue;
    bool is_field = colon < line.end && *colon == ':' &&
                    (colon == at || may_have_blanks || starts_with_any_case(name, LITERAL("content-")));
    return is_field ? name : span_between(line.at, line.at);
}

/* Moves text after the separator lines of mboxes at its beginning, "From ..." and ">From ...", if a field follows. */
static bool skip_separators(span *text) {
    span tail = *text, line;
    while (starts_with(skip_bytes(tail, starts_with(tail, LITERAL(">"))), LITERAL("From ")))
        next_line(&tail, &line);
    bool is_skipped = tail.at > text->at && !is_empty(field_name(tail, false));
    text->at = is_skipped ? tail.at : text->at;
    return is_skipped;
}

const uint8_t *skip_envelope(span message) {
    message = skip_bytes(message, starts_with(message, LITERAL("\xEF\xBB\xBF")) ? 3 : 0);
    skip_separators(&message);
    return message.at;
}

/* Returns where a field's value ends: at the first line feed that is not followed by a blank. */
static const uint8_t *value_end(span text) {
    for (;; text.at++) {
        text.at = before_first(text, '\n').end;
        if (size_of(text) < 2 || !is_blank(text.at[1]))
            return text.at;
    }
}

/* Reads the field at the beginning of text and moves text after the field; false if text begins with no field. */
static bool read_field(span *text, struct field *field, bool may_have_blanks) {
    field->name = field_name(*text, may_have_blanks);
    if (is_empty(field->name))
        return false;
    field->value = skip_blanks(span_between(find_byte(span_between(field->name.end, text->end), ':') + 1, text->end));
    field->value.end = value_end(field->value);
    *text = skip_bytes(span_between(field->value.end, text->end), 1);
    return true;
}

/* Of the fields with one essential name, and of all other fields: their number and the place of the last one. */
struct field_counts {
    struct {
        size_t count, last;
    } of[N_ESSENTIAL + 1];
};

/* Adds a field to a section; returns whether its name is one of mail. After MAX_FIELDS fields with an essential name, a
 * field takes the place of the last one. */
static bool add_field(struct reader *reader, struct section *section, struct field field, struct field_counts *counts) {
    size_t number = mail_field(field.name), i = number < N_ESSENTIAL ? number : N_ESSENTIAL;
    field.is_essential = i < N_ESSENTIAL;
    if (counts->of[i].count++ < MAX_FIELDS) {
        counts->of[i].last = section->fields.count;
        *LIST_ADD(&reader->arena, &section->fields) = field;
    } else {
        reader->message.truncations |= TRUNCATED_HEADERS;
        if (field.is_essential)
            section->fields.items[counts->of[i].last] = field;
    }
    return number < N_MAIL_FIELDS;
}

/* Returns whether a line before the body would spoil it: the body is in base64, or it is a message. */
static bool is_spoilt_by_lines(const struct section *section) {
    const struct field *encoding = find_field(section, LITERAL("content-transfer-encoding"), false);
    const struct field *type = find_field(section, LITERAL("content-type"), false);
    return (encoding && find_any_case(first_bytes(encoding->value, MAX_WORD_CHARSET), LITERAL("base"))) ||
           (type && find_any_case(first_bytes(type->value, MAX_WORD_CHARSET), LITERAL("message/")));
}

/* Returns where a section ends that goes on after a line that is no field, and moves tail to the end of its last line;
 * NULL if the body begins with that line. The section goes on if a field of mail follows before the first empty line,
 * or if the empty line is followed by a body that the lines would spoil. That of a multipart ends at a delimiter. */
static const uint8_t *find_end(const struct section *section, span *tail, bool may_have_blanks) {
    span lines = first_bytes(*tail, MAX_BROKEN), line;
    const uint8_t *last = NULL;
    struct field field;
    const struct field *type = find_field(section, LITERAL("content-type"), false);
    bool is_multipart = type && find_any_case(type->value, LITERAL("boundary"));
    while (!is_empty(lines) && *lines.at != '\n' && !(is_multipart && starts_with(lines, LITERAL("--"))))
        if (!read_field(&lines, &field, may_have_blanks))
            next_line(&lines, &line);
        else if (mail_field(field.name) < N_MAIL_FIELDS)
            last = lines.at;
    bool is_closed = !is_empty(lines) && *lines.at == '\n';
    bool has_body = is_closed && !is_empty(strip(span_between(lines.at, tail->end)));
    if (!last && !(has_body && is_spoilt_by_lines(section)))
        return NULL;
    tail->end = is_closed ? lines.at : last;
    return tail->end + is_closed;
}

struct section read_section(struct reader *reader, span message) {
    struct section section = {0};
    struct field_counts counts = {0};
    struct field field;
    span tail = message, line;
    span_list lines = {0};
    skip_separators(&tail);
    span name = field_name(tail, true);
    bool is_mail = false, has_blanks = mail_field(name) < N_MAIL_FIELDS && is_blank(*name.end); /* "Subject : x" */
    for (; read_field(&tail, &field, has_blanks); skip_separators(&tail))
        is_mail |= add_field(reader, &section, field, &counts);
    bool is_closed = !is_empty(tail) && *tail.at == '\n';
    section.first_stray = section.body = tail.at + is_closed;
    const uint8_t *end = is_empty(tail) || is_closed ? NULL : find_end(&section, &tail, has_blanks);
    if (!end && !is_closed && !is_mail) { /* a text without a header section: "URGENT: call now" */
        section.fields.count = 0;
        section.first_stray = section.body = message.at;
    }
    while (end && !is_empty(tail)) {
        line.at = tail.at;
        if (!read_field(&tail, &field, true) || mail_field(field.name) == N_MAIL_FIELDS) {
            tail.at = line.at;
            next_line(&tail, &line);
            *LIST_ADD(&reader->arena, &lines) = span_between(line.at, tail.at);
        } else
            add_field(reader, &section, field, &counts);
    }
    section.stray = concatenate_all(&reader->arena, &lines);
    section.body = end ? end : section.body;
    return section;
}

/* An encoded word, =?charset?B?text?= or =?charset?Q?text?=, and the text after the word (RFC 2047). */
struct encoded_word {
    span charset, text, tail;
    bool is_base64;
};

static bool read_encoded_word(span value, struct encoded_word *word) {
    span tail = skip_bytes(value, 2), charset = before_first(first_bytes(tail, MAX_WORD_CHARSET + 1), '?');
    tail.at = charset.end;
    word->charset = strip(before_first(charset, '*'));
    if (find_byte(word->charset, ' ') || size_of(tail) < 5 || tail.at[0] != '?' || tail.at[2] != '?')
        return false;
    word->is_base64 = (tail.at[1] | 32) == 'b';
    tail.at += 3;
    for (word->text = word->tail = tail;; word->tail.at++) {
        /* Some programs do not encode the question marks of a word, so the search for "?=" goes on after "?". It ends
         * at "=?", which may begin the next word: otherwise a field of a thousand words without an end would be
         * searched a thousand times. */
        word->tail.at = word->text.end = before_first(word->tail, '?').end;
        if (size_of(word->tail) < 2 || (word->tail.at > tail.at && word->tail.at[-1] == '=' && word->tail.at[1] != '='))
            return false;
        if (word->tail.at[1] == '=') {
            word->tail.at += 2;
            return word->is_base64 || (tail.at[-2] | 32) == 'q';
        }
    }
}

span message_charset(struct reader *reader) {
    span text = first_bytes(reader->message.raw, MAX_CHARSET_BYTES), tail = text, *charset = &reader->message.charset;
    const uint8_t *at;
    struct encoded_word word;
    if (charset->at)
        return *charset;
    *charset = span_of(text.end, 0);
    while (is_empty(*charset) && (at = find_any_case(tail, LITERAL("charset")))) {
        tail = skip_blanks(span_between(at + 7, tail.end));
        if (!starts_with(tail, LITERAL("=")))
            continue;
        tail.at += starts_with_any_case(tail, LITERAL("=3d")) ? 3 : 1; /* in quoted-printable */
        span name = strip_any(first_bytes(tail, MAX_WORD_CHARSET), "= \t\"'");
        for (at = name.at; at < name.end && *at > ' ' && !find_byte(LITERAL("\"'();>"), *at); at++)
            continue;
        name = copy_lower(&reader->arena, span_between(name.at, at));
        *charset = is_unnamed(name) || is_one_of(name, "utf-8 utf8") ? *charset : name;
    }
    at = is_empty(*charset) ? find(text, LITERAL("=?")) : NULL;
    if (at && read_encoded_word(span_between(at, text.end), &word))
        *charset = copy_lower(&reader->arena, word.charset);
    return *charset;
}

/* Returns a value in UTF-8 with its encoded words decoded. Adjacent words in one charset are joined before they are
 * decoded, because a character may be divided between two words. */
static span decode_words(struct reader *reader, span value) {
    struct arena *arena = &reader->arena;
    span_list pieces = {0};
    struct encoded_word word;
    bool has_next;
    for (const uint8_t *begin = value.at; (begin = find(span_between(begin, value.end), LITERAL("=?")));) {
        if (!read_encoded_word(span_between(begin, value.end), &word)) {
            begin += 2;
            continue;
        }
        *LIST_ADD(arena, &pieces) = decode_text(reader, span_between(value.at, begin), LITERAL(""));
        span charset = copy_lower(arena, word.charset), next;
        struct writer writer = writer_open(arena, size_of(word.text));
        do {
            if (word.is_base64)
                put_base64(&writer, word.text);
            else
                put_quoted_printable(&writer, word.text, true);
            value = word.tail;
            next = skip_blanks(value);
            has_next = starts_with(next, LITERAL("=?")) && read_encoded_word(next, &word);
            if (has_next)
                value = next; /* blanks between two encoded words are not shown */
        } while (has_next && is_same_any_case(word.charset, charset));
        *LIST_ADD(arena, &pieces) = decode_text(reader, writer_close(&writer), charset);
        begin = value.at;
    }
    value = decode_text(reader, value, LITERAL(""));
    if (!pieces.count)
        return value;
    *LIST_ADD(arena, &pieces) = value;
    struct writer writer = writer_open(arena, size_of(value) + 64);
    for (size_t i = 0; i < pieces.count; i++)
        for (span piece = pieces.items[i]; piece.at < piece.end; piece.at++)
            put_byte(&writer, *piece.at == '\n' || *piece.at == '\r' ? ' ' : *piece.at);
    return writer_close(&writer);
}

span remove_all(struct arena *arena, span text, span bytes) {
    const uint8_t *match = find(text, bytes);
    if (!match)
        return text;
    struct writer writer = writer_open(arena, size_of(text));
    for (; match; match = find(text, bytes)) {
        put_span(&writer, span_between(text.at, match));
        text.at = match + size_of(bytes);
    }
    put_span(&writer, text);
    return writer_close(&writer);
}

span field_value(struct reader *reader, const struct field *field, bool is_decoded) {
    if (!field)
        return (span){0};
    span value = strip(remove_all(&reader->arena, field->value, LITERAL("\n")));
    if (size_of(value) > MAX_VALUE)
        reader->message.truncations |= TRUNCATED_HEADERS;
    value = drop_middle(&reader->arena, value, MAX_VALUE, ' ');
    return is_decoded ? remove_all(&reader->arena, decode_words(reader, value), LITERAL("\0"))
                      : decode_text(reader, value, LITERAL(""));
}

const struct field *find_field(const struct section *section, span name, bool is_last) {
    const struct field *field = NULL;
    for (size_t i = 0; i < section->fields.count && (is_last || !field); i++)
        if (is_same_any_case(section->fields.items[i].name, name))
            field = &section->fields.items[i];
    return field;
}

size_t find_readings(const struct section *section, span name, const struct field *readings[2]) {
    readings[0] = find_field(section, name, false);
    readings[1] = readings[0] ? find_field(section, name, true) : NULL;
    return readings[0] != readings[1] && !is_same(readings[0]->value, readings[1]->value);
}

span value_of(struct reader *reader, const struct section *section, span name, bool is_decoded) {
    return field_value(reader, find_field(section, name, false), is_decoded);
}

/* The parameters that are read, in the order of PARAMETER_NAMES. */
enum { CHARSET, BOUNDARY, NAME, FILENAME, DELSP, START, N_PARAMETERS };
static const char *const PARAMETER_NAMES[N_PARAMETERS] = {"charset", "boundary", "name", "filename", "delsp", "start"};

/* The forms of a parameter, the preferred form first: name*= (RFC 6266), the pieces name*0=, name*1= and so on
 * (RFC 2231), and name=. Piece n has the number PLAIN + n. Without piece 0, name= is preferred to the other pieces. */
enum { EXTENDED, PIECE_0, PLAIN, NO_FORM = PLAIN + MAX_CONTINUATIONS /* not read */ };

struct piece {
    unsigned form;
    span charset, text;
};

typedef LIST(struct piece) piece_list;

/* Returns the value at the beginning of tail, without quotation marks and without backslashes that escape characters.
 * Moves tail after the value. */
static span parameter_value(struct arena *arena, span *tail) {
    if (!starts_with(*tail, LITERAL("\""))) {
        span text = before_first(before_first(*tail, ';'), '\n');
        tail->at = text.end;
        return strip(text);
    }
    struct writer writer = writer_open(arena, 64);
    for (tail->at++; !is_empty(*tail) && *tail->at != '"' && *tail->at != '\n'; tail->at++) {
        tail->at += starts_with(*tail, LITERAL("\\\"")) || starts_with(*tail, LITERAL("\\\\"));
        put_byte(&writer, *tail->at);
    }
    *tail = skip_bytes(*tail, 1);
    return writer_close(&writer);
}

/* Returns the form of a parameter whose name ends with "", "*", "*0", "*0*" and so on. */
static unsigned form_of(span suffix) {
    span digits = skip_bytes(suffix, 1), tail = digits;
    unsigned number = 0;
    if (is_empty(digits))
        return is_empty(suffix) ? PLAIN : EXTENDED;
    for (; !is_empty(tail) && is_digit(*tail.at); tail.at++)
        number = number < MAX_CONTINUATIONS ? 10 * number + (*tail.at - '0') : number;
    if (tail.at == digits.at || !(is_empty(tail) || is_same(tail, LITERAL("*"))) || number >= MAX_CONTINUATIONS)
        return NO_FORM;
    return number ? PLAIN + number : PIECE_0;
}

/* Adds a piece to the pieces of a parameter, which are in the order of their forms. Of two pieces with one form, the
 * first is read. A percent-encoded parameter may begin with charset'language'. */
static void add_piece(struct reader *reader, piece_list *pieces, span suffix, span text) {
    struct piece piece = {form_of(suffix), {0}, text};
    size_t i = pieces->count;
    while (i && pieces->items[i - 1].form > piece.form)
        i--;
    if (piece.form == NO_FORM)
        reader->message.truncations |= TRUNCATED_HEADERS;
    if (piece.form == NO_FORM || (i && pieces->items[i - 1].form == piece.form))
        return;
    if (!is_empty(suffix) && suffix.end[-1] == '*') {
        const uint8_t *language = piece.form <= PIECE_0 ? find_byte(text, '\'') : NULL;
        const uint8_t *begin = language ? find_byte(span_between(language + 1, text.end), '\'') : NULL;
        if (begin) {
            piece.charset = copy_lower(&reader->arena, span_between(text.at, language));
            text.at = begin + 1;
        }
        piece.text = decode_percents(&reader->arena, text);
    }
    if (piece.form == EXTENDED && is_empty(text))
        return;
    LIST_ADD(&reader->arena, pieces);
    memmove(pieces->items + i + 1, pieces->items + i, (pieces->count - 1 - i) * sizeof piece);
    pieces->items[i] = piece;
}

/* Returns the text of a parameter with at least one piece. */
static span join_pieces(struct arena *arena, const piece_list *pieces) {
    const struct piece *items = pieces->items;
    if (pieces->count == 1 || items->form == EXTENDED || items->form == PLAIN)
        return items->text;
    struct writer writer = writer_open(arena, 64);
    for (size_t i = 0; i < pieces->count; i++)
        if (items[i].form != PLAIN)
            put_span(&writer, items[i].text);
    return writer_close(&writer);
}

span remove_comments(struct arena *arena, span value) {
    value = strip(value);
    if (!find_byte(value, '('))
        return value;
    struct writer writer = writer_open(arena, size_of(value));
    const uint8_t *open = NULL; /* where the present comment begins */
    size_t depth = 0;
    bool is_quoted = false;
    for (; !is_empty(value); value.at++) {
        uint8_t c = *value.at;
        is_quoted ^= c == '"' && !depth;
        if (c == '(' && !is_quoted && !depth++)
            open = value.at;
        if (!depth)
            put_byte(&writer, c);
        else if (c == ')' && !--depth)
            put_byte(&writer, ' ');
        value.at += c == '\\' && depth && size_of(value) > 1;
    }
    if (depth)
        put_span(&writer, span_between(open, value.end)); /* it is not closed, so it is no comment */
    return strip(writer_close(&writer));
}

/* Returns the type before the parameters, in which blanks may surround the slash, and moves tail after the type. Some
 * programs write no type. */
static span read_main(struct arena *arena, span *tail) {
    if (find_byte(before_first(*tail, ';'), '=') && !find_byte(before_first(*tail, '='), '/'))
        return (span){0};
    struct writer writer = writer_open(arena, 64);
    bool has_slash = false;
    for (; !is_empty(*tail) && *tail->at != ';'; tail->at++) {
        if (is_space(*tail->at)) {
            span word = strip(*tail);
            if (!has_slash && !starts_with(word, LITERAL("/")))
                break;
            tail->at = word.at;
            if (is_empty(word) || *word.at == ';')
                break;
        }
        put_byte(&writer, *tail->at);
        has_slash = *tail->at == '/';
    }
    return writer_close(&writer);
}

struct parameters read_parameters(struct reader *reader, span value) {
    struct arena *arena = &reader->arena;
    piece_list pieces[N_PARAMETERS] = {0};
    span other_boundary = {0}, texts[N_PARAMETERS] = {0};
    span tail = remove_comments(arena, drop_middle(arena, value, MAX_PARAMETER_BYTES, '\n')), main = read_main(arena, &tail);
    while (!is_empty(tail)) {
        span name = tail;
        while (!is_empty(tail) && *tail.at != ';' && *tail.at != '=' && !is_space(*tail.at))
            tail.at++;
        name.end = tail.at;
        tail = is_empty(name) ? skip_bytes(tail, 1) : skip_blanks(tail);
        if (is_empty(name) || !starts_with(tail, LITERAL("=")))
            continue;
        tail = skip_blanks(skip_bytes(tail, 1));
        span text = parameter_value(arena, &tail), base = before_first(name, '*');
        for (size_t i = 0; i < N_PARAMETERS; i++)
            if (is_same_any_case(base, span_of_text(PARAMETER_NAMES[i])))
                add_piece(reader, &pieces[i], span_between(base.end, name.end), text);
        if (is_same_any_case(name, span_of_text(PARAMETER_NAMES[BOUNDARY])))
            other_boundary = text;
    }
    for (size_t i = 0; i < N_PARAMETERS; i++) {
        if (pieces[i].count)
            texts[i] = decode_text(reader, join_pieces(arena, &pieces[i]), pieces[i].items->charset);
        texts[i] = decode_words(reader, texts[i]);
    }
    if (is_same(other_boundary, texts[BOUNDARY]))
        other_boundary = (span){0};
    return (struct parameters){copy_lower(arena, main), texts[CHARSET],  texts[BOUNDARY], texts[NAME],
                               texts[FILENAME],         texts[DELSP], texts[START], other_boundary};
}
