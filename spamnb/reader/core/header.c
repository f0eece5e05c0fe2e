#include "header.h"

#include "reader.h"
#include "transfer.h"

enum { MAX_WORD_CHARSET = 75, MAX_PIECES = 100 };

span with_line_feeds(struct arena *arena, span text) {
    if (!find_byte(text, '\r'))
        return text;
    struct writer writer = writer_open(arena, size_of(text));
    for (;;) {
        const uint8_t *cr = find_byte(text, '\r');
        put_span(&writer, span_between(text.at, cr ? cr : text.end));
        if (!cr)
            return writer_close(&writer);
        text.at = cr + 1;
        if (text.at == text.end || *text.at != '\n')
            put_byte(&writer, '\n');
    }
}

/* Names by which a line is known for a field of mail; a name that ends with "-" may go on. */
static const char *const KNOWN_FIELDS[] = {
    "subject", "from", "to", "cc", "bcc", "date", "sender", "reply-to", "received", "return-path", "message-id",
    "in-reply-to", "references", "mime-version", "content-", "lines", "organization", "organisation", "newsgroups",
    "path", "xref", "delivered-to", "errors-to", "precedence", "importance", "priority", "status", "user-agent",
    "list-", "dkim-signature", "authentication-results", "envelope-to", "keywords", "approved", "x-",
};

/* The name of the field that a line begins with; empty where it begins with none. */
static span field_name(span line) {
    const uint8_t *at = line.at;
    while (at < line.end && *at > ' ' && *at < 127 && *at != ':')
        at++;
    return at < line.end && *at == ':' ? span_between(line.at, at) : span_between(line.at, line.at);
}

static bool is_known_field(span line) {
    span name = field_name(first_bytes(line, 100));
    if (is_empty(name))
        return false;
    for (size_t i = 0; i < COUNT_OF(KNOWN_FIELDS); i++) {
        span known = span_of(KNOWN_FIELDS[i], strlen(KNOWN_FIELDS[i]));
        bool goes_on = known.end[-1] == '-' && size_of(name) > size_of(known);
        if (starts_with_any_case(name, known) && (goes_on || size_of(name) == size_of(known)))
            return true;
    }
    return false;
}

const uint8_t *skip_envelope(span message) {
    if (starts_with(message, LITERAL("\xEF\xBB\xBF")))
        message.at += 3;
    span line = message;
    if (starts_with(line, LITERAL(">")))
        line.at++;
    const uint8_t *end = starts_with(line, LITERAL("From ")) ? find_byte(line, '\n') : NULL;
    if (!end)
        return message.at;
    if (is_known_field(span_between(end + 1, message.end)))
        return end + 1;
    /* Or a time stands in it: "From a@example.org Mon Jan  1 00:00:00 2001". */
    line = first_bytes(span_between(line.at + 5, end), 505);
    for (const uint8_t *colon = line.at; (colon = find_byte(span_between(colon, line.end), ':')); colon++)
        if (colon > line.at && is_digit(colon[-1]) && line.end - colon > 2 && is_digit(colon[1]) && is_digit(colon[2]))
            return end + 1;
    return message.at;
}

/* The end of the line feed that ends a field: the first one that no blank follows. */
static const uint8_t *field_end(span text) {
    for (const uint8_t *at = text.at;; at++) {
        at = find_byte(span_between(at, text.end), '\n');
        if (!at || at + 1 == text.end || !is_blank(at[1]))
            return at ? at : text.end;
    }
}

/* Adds the fields that text begins with; returns what is left. */
static span read_fields(struct reader *reader, struct section *section, span text) {
    while (text.at < text.end) {
        span name = field_name(text);
        if (is_empty(name))
            break;
        span value = span_between(name.end + 1, text.end);
        while (value.at < value.end && is_blank(*value.at))
            value.at++;
        value.end = field_end(value);
        if (section->fields.count < MAX_FIELDS)
            *LIST_ADD(&reader->arena, &section->fields) = (struct field){name, value};
        else
            reader->message.cuts |= CUT_HEADERS;
        text.at = value.end < text.end ? value.end + 1 : text.end;
    }
    return text;
}

/* A line that is a field but for blanks before its colon. */
static bool add_loose_field(struct reader *reader, struct section *section, span line) {
    const uint8_t *at = line.at;
    while (at < line.end && *at > ' ' && *at < 127 && *at != ':')
        at++;
    span name = span_between(line.at, at);
    while (at < line.end && is_blank(*at))
        at++;
    if (is_empty(name) || at == name.end || at == line.end || *at != ':')
        return false;
    if (section->fields.count < MAX_FIELDS)
        *LIST_ADD(&reader->arena, &section->fields) = (struct field){name, strip(span_between(at + 1, line.end))};
    return starts_with_any_case(name, LITERAL("content-")) || starts_with_any_case(name, LITERAL("mime-version"));
}

struct section read_section(struct reader *reader, span message) {
    span text = first_bytes(message, MAX_HEADER_BYTES);
    struct section section = {.begin = text.at};
    span rest = read_fields(reader, &section, text);
    int n_stray = 0;
    while (rest.at < rest.end && *rest.at != '\n' && !starts_with(rest, LITERAL("--")) && n_stray < MAX_STRAY_LINES) {
        const uint8_t *end = find_byte(rest, '\n');
        if (!end)
            break;
        span line = span_between(rest.at, end), next = span_between(end + 1, rest.end);
        size_t n_fields = section.fields.count;
        bool describes = add_loose_field(reader, &section, line);
        if (!(describes || *line.at == ':' || is_known_field(next))) {
            section.fields.count = n_fields;
            break;
        }
        n_stray++;
        rest = read_fields(reader, &section, next);
    }
    section.end = rest.at;
    if (rest.at < rest.end && *rest.at == '\n') {
        section.body = rest.at + 1;
        return section;
    }
    if (rest.at == rest.end && rest.end < message.end) {
        reader->message.cuts |= CUT_HEADERS;
        const uint8_t *blank = find(span_between(rest.end - 2, message.end), LITERAL("\n\n"));
        section.body = blank ? blank + 2 : message.end;
        return section;
    }
    section.body = rest.at;
    bool is_mail = section.fields.count == 0;
    for (size_t i = 0; i < section.fields.count && !is_mail; i++)
        is_mail = is_known_field(span_between(section.fields.items[i].name.at, text.end));
    if (!is_mail) { /* plain text handed over as if it were a message: "URGENT: call now" */
        section.fields.count = 0;
        section.body = section.end = section.begin;
    }
    return section;
}

/* Fields that delivery puts on top: evidence, but not what makes a message this one. */
static bool is_trace_field(span name) {
    static const char *const TRACE[] = {
        "received", "return-path", "delivered-to", "x-original-to", "envelope-to", "delivery-date",
    };
    for (size_t i = 0; i < COUNT_OF(TRACE); i++)
        if (is_same_any_case(name, span_of(TRACE[i], strlen(TRACE[i]))))
            return true;
    return false;
}

span lasting_lines(struct reader *reader, const struct section *section, bool without_trace) {
    struct writer writer = writer_open(&reader->arena, (size_t)(section->end - section->begin));
    bool is_volatile = false;
    for (span text = span_between(section->begin, section->end); text.at < text.end;) {
        const uint8_t *end = find_byte(text, '\n');
        span line = span_between(text.at, end ? end + 1 : text.end);
        if (!(is_volatile && is_blank(*line.at))) {
            span name = field_name(line);
            is_volatile = !is_empty(name) && (header_rule_of(reader->rules, name)->is_volatile ||
                                              (without_trace && is_trace_field(name)));
        }
        if (!is_volatile)
            put_span(&writer, line);
        text.at = line.end;
    }
    span lines = writer_close(&writer);
    while (lines.at < lines.end && *lines.at == '\n')
        lines.at++;
    while (lines.at < lines.end && lines.end[-1] == '\n')
        lines.end--;
    return lines;
}

/* An encoded word =?charset?B or Q?text?=, and how long it is. */
struct encoded_word {
    span charset, text;
    bool is_base64;
    size_t size;
};

static bool read_encoded_word(span value, struct encoded_word *word) {
    span rest = skip_bytes(value, 2);
    span charset = before_first(first_bytes(rest, MAX_WORD_CHARSET + 1), '?');
    rest.at = charset.end;
    if (is_empty(charset) || size_of(rest) < 5 || rest.at[0] != '?' || rest.at[2] != '?')
        return false;
    for (const uint8_t *at = charset.at; at < charset.end; at++)
        if (is_space(*at))
            return false;
    uint8_t how = rest.at[1] | 32;
    if (how != 'b' && how != 'q')
        return false;
    span text = span_between(rest.at + 3, rest.end);
    for (const uint8_t *at = text.at;; at++) {
        /* A question mark that some programs leave as it is ends no word. One behind "=" does: it may begin the next
         * word, and without that a thousand words that never end would each be searched to the end of the field. */
        at = find_byte(span_between(at, text.end), '?');
        if (!at || at + 1 == text.end)
            return false;
        if (at[1] == '=') {
            *word = (struct encoded_word){before_first(charset, '*'), span_between(text.at, at), how == 'b',
                                          (size_t)(at + 2 - value.at)};
            return true;
        }
        if (at > text.at && at[-1] == '=')
            return false;
    }
}

/* A value with its encoded words decoded; neighbours of one charset are joined before. */
static span decode_words(struct reader *reader, span value) {
    struct arena *arena = &reader->arena;
    span_list pieces = {0};
    const uint8_t *search = value.at;
    for (;;) {
        const uint8_t *found = find(span_between(search, value.end), LITERAL("=?"));
        struct encoded_word word;
        if (!found)
            break;
        if (!read_encoded_word(span_between(found, value.end), &word)) {
            search = found + 2;
            continue;
        }
        *LIST_ADD(arena, &pieces) = span_between(value.at, found);
        span charset = lower_copy(arena, word.charset), joined = span_between(found, found);
        struct writer writer = writer_open(arena, word.size);
        do {
            if (word.is_base64)
                put_base64(&writer, word.text);
            else
                put_quoted_printable(&writer, word.text, true);
            value.at = search = joined.at + word.size;
            joined.at = value.at;
            while (joined.at < value.end && (is_blank(*joined.at) || *joined.at == '\n'))
                joined.at++;
            joined.end = value.end;
            if (starts_with(joined, LITERAL("=?")))
                value.at = search = joined.at; /* blanks between words are none of the text */
        } while (starts_with(joined, LITERAL("=?")) && read_encoded_word(joined, &word) &&
                 is_same_any_case(word.charset, charset));
        *LIST_ADD(arena, &pieces) = decode_text(reader, writer_close(&writer), charset);
    }
    *LIST_ADD(arena, &pieces) = value;
    struct writer writer = writer_open(arena, size_of(value) + 64);
    for (size_t i = 0; i < pieces.count; i++)
        put_span(&writer, pieces.items[i]);
    span text = writer_close(&writer);
    for (uint8_t *at = (uint8_t *)(uintptr_t)text.at; at < text.end; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    return text;
}

/* A text without one byte. */
static span without(struct arena *arena, span text, uint8_t byte) {
    if (!find_byte(text, byte))
        return text;
    struct writer writer = writer_open(arena, size_of(text));
    for (const uint8_t *at; (at = find_byte(text, byte)); text.at = at + 1)
        put_span(&writer, span_between(text.at, at));
    put_span(&writer, text);
    return writer_close(&writer);
}

span field_value(struct reader *reader, span value, bool with_words) {
    value = without(&reader->arena, value, '\n');
    if (!is_ascii(value))
        value = decode_text(reader, value, LITERAL(""));
    if (with_words && find(value, LITERAL("=?")))
        value = decode_words(reader, value);
    return with_words ? without(&reader->arena, value, 0) : value;
}

/* Which parameters are read. */
enum { CHARSET, BOUNDARY, NAME, FILENAME, N_PARAMETERS };
static const char *const PARAMETER_NAMES[N_PARAMETERS] = {"charset", "boundary", "name", "filename"};

/* A piece of a parameter (RFC 2231): filename*0*=... */
struct piece {
    unsigned number;
    bool is_extended;
    span text;
};

struct parameter {
    bool is_there;
    span text;
    LIST(struct piece) pieces;
};

/* "name*12*" -> which parameter, the piece's number, and whether it is percent-encoded; −1 for others. */
static int which_parameter(span name, struct piece *piece, bool *in_pieces) {
    const uint8_t *star = find_byte(name, '*');
    span base = span_between(name.at, star ? star : name.end), rest = span_between(base.end, name.end);
    *in_pieces = star != NULL;
    *piece = (struct piece){0};
    if (star) {
        rest.at++;
        bool has_number = false;
        for (; rest.at < rest.end && is_digit(*rest.at) && piece->number < 1000; rest.at++, has_number = true)
            piece->number = 10 * piece->number + (*rest.at - '0');
        if (!has_number && is_empty(rest))
            piece->is_extended = true; /* filename*=... */
        else if (is_same(rest, LITERAL("*")))
            piece->is_extended = true;
        else if (!is_empty(rest))
            return -1;
    }
    for (int i = 0; i < N_PARAMETERS; i++)
        if (is_same_any_case(base, span_of(PARAMETER_NAMES[i], strlen(PARAMETER_NAMES[i]))))
            return i;
    return -1;
}

/* The value of a parameter in pieces, in the order of their numbers. */
static span join_pieces(struct reader *reader, struct parameter *parameter) {
    struct piece *pieces = parameter->pieces.items;
    for (size_t i = 1; i < parameter->pieces.count; i++)
        for (size_t j = i; j && pieces[j - 1].number > pieces[j].number; j--) {
            struct piece other = pieces[j];
            pieces[j] = pieces[j - 1];
            pieces[j - 1] = other;
        }
    span charset = LITERAL("");
    struct writer writer = writer_open(&reader->arena, 64);
    for (size_t i = 0; i < parameter->pieces.count; i++) {
        span text = pieces[i].text;
        if (!pieces[i].is_extended) {
            put_span(&writer, text);
            continue;
        }
        const uint8_t *first = i ? NULL : find_byte(text, '\'');
        const uint8_t *second = first ? find_byte(span_between(first + 1, text.end), '\'') : NULL;
        if (second) { /* charset'language'text */
            charset = span_between(text.at, first);
            text.at = second + 1;
        }
        for (; text.at < text.end; text.at++) {
            bool is_escape = *text.at == '%' && size_of(text) > 2 && hex_value(text.at[1]) >= 0 && hex_value(text.at[2]) >= 0;
            put_byte(&writer, is_escape ? (uint8_t)(hex_value(text.at[1]) << 4 | hex_value(text.at[2])) : *text.at);
            text.at += is_escape ? 2 : 0;
        }
    }
    return decode_text(reader, writer_close(&writer), charset);
}

/* A quoted value without its escapes; where it ends. */
static span read_quoted(struct arena *arena, span *rest) {
    struct writer writer = writer_open(arena, 64);
    rest->at++;
    while (rest->at < rest->end && *rest->at != '"') {
        bool is_escape = *rest->at == '\\' && size_of(*rest) > 1;
        bool is_plain = is_escape && rest->at[1] != '"' && rest->at[1] != '\\';
        if (is_plain)
            put_byte(&writer, '\\'); /* C:\file.txt */
        rest->at += is_escape;
        put_byte(&writer, *rest->at++);
    }
    if (rest->at < rest->end)
        rest->at++;
    return writer_close(&writer);
}

struct parameters read_parameters(struct reader *reader, span value) {
    struct arena *arena = &reader->arena;
    value = first_characters(value, MAX_PARAMETER_BYTES);
    struct parameters found = {0};
    struct parameter parameters[N_PARAMETERS] = {0};
    span main = strip(before_first(value, ';')), rest = value;
    rest.at = find_byte(value, ';');
    if (find_byte(main, '=') && find_byte(main, ' ')) { /* a semicolon is missing: attachment filename="a.txt" */
        main = before_first(main, ' ');
        rest.at = main.end;
    }
    found.main = lower_copy(arena, main);
    while (rest.at && rest.at < rest.end) {
        rest.at++;
        while (rest.at < rest.end && (is_space(*rest.at) || *rest.at == '\v'))
            rest.at++;
        span name = rest;
        while (rest.at < rest.end && !is_space(*rest.at) && *rest.at != '=' && *rest.at != ';' && *rest.at != '"')
            rest.at++;
        name.end = rest.at;
        while (rest.at < rest.end && is_space(*rest.at))
            rest.at++;
        if (is_empty(name) || rest.at == rest.end || *rest.at != '=') {
            rest.at = find_byte(rest, ';');
            continue;
        }
        rest.at++;
        while (rest.at < rest.end && is_space(*rest.at))
            rest.at++;
        span text;
        if (rest.at < rest.end && *rest.at == '"')
            text = read_quoted(arena, &rest);
        else {
            text = strip(before_first(rest, ';'));
            rest.at = before_first(rest, ';').end;
        }
        rest.at = find_byte(rest, ';');
        struct piece piece;
        bool in_pieces;
        int which = which_parameter(name, &piece, &in_pieces);
        if (which < 0)
            continue;
        struct parameter *parameter = &parameters[which];
        piece.text = text;
        if (in_pieces && parameter->pieces.count < MAX_PIECES)
            *LIST_ADD(arena, &parameter->pieces) = piece;
        else if (!in_pieces && !parameter->is_there) {
            parameter->is_there = true;
            parameter->text = find(text, LITERAL("=?")) ? decode_words(reader, text) : text;
        }
    }
    span *texts[N_PARAMETERS] = {&found.charset, &found.boundary, &found.name, &found.filename};
    for (int i = 0; i < N_PARAMETERS; i++)
        *texts[i] = parameters[i].pieces.count ? join_pieces(reader, &parameters[i]) : parameters[i].text;
    return found;
}
