/* Header sections: fields, parameters, encoded words. */
#include "reader.h"

enum {
    MAX_FIELDS = 1000, MAX_COUNTED = 20000,
    MAX_VALUE = 1 << 18,         /* bytes of a field */
    MAX_BROKEN = 1 << 14,        /* bytes in which fields are looked for behind a line that is none */
    MAX_PARAMETER_BYTES = 10000, /* of a value whose parameters are read */
    MAX_WORD_CHARSET = 75,
};

span with_line_feeds(struct arena *arena, span text) {
    if (!find_byte(text, '\r'))
        return text;
    struct writer writer = writer_open(arena, size_of(text));
    while (!is_empty(text)) {
        span line = before_first(text, '\r');
        put_span(&writer, line);
        text.at = line.end;
        if (is_empty(text))
            break;
        put_byte(&writer, '\n');
        text = skip_bytes(text, starts_with(text, LITERAL("\r\n")) ? 2 : 1);
    }
    return writer_close(&writer);
}

/* Names by which a line is known for a field of mail; a name that ends with "-" may go on. The first N_COUNTED are read
 * whatever stands before them. */
static const char *const KNOWN_FIELDS[] = {
    "subject", "from", "to", "cc", "sender", "reply-to", "received", "date", "message-id", "content-type",
    "content-transfer-encoding", "content-disposition", "list-", "bcc", "return-path", "in-reply-to", "references",
    "mime-version", "content-", "lines", "organization", "organisation", "newsgroups", "path", "xref", "delivered-to",
    "errors-to", "precedence", "importance", "priority", "status", "user-agent", "dkim-signature",
    "authentication-results", "envelope-to", "keywords", "approved", "x-",
};

enum { N_COUNTED = 13 };

/* Whether a name is among the first n in the list above. */
static bool is_known(span name, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (is_empty(name) || to_lower(*name.at) != (uint8_t)*KNOWN_FIELDS[i])
            continue;
        span known = span_of_text(KNOWN_FIELDS[i]);
        if (starts_with_any_case(name, known) && (known.end[-1] == '-' || size_of(name) == size_of(known)))
            return true;
    }
    return false;
}

/* The name of the field that a line begins with; empty where it begins with none. "Content-Type : x" is meant for one,
 * other words with a blank before a colon are not. */
static span field_name(span line) {
    const uint8_t *at = line.at, *colon;
    while (at < line.end && *at > ' ' && *at < 127 && *at != ':')
        at++;
    span name = span_between(line.at, at);
    for (colon = at; colon < line.end && is_blank(*colon); colon++)
        continue;
    bool is_field = colon < line.end && *colon == ':' && (colon == at || starts_with_any_case(name, LITERAL("content-")));
    return is_field ? name : span_between(line.at, line.at);
}

const uint8_t *skip_envelope(span message) {
    if (starts_with(message, LITERAL("\xEF\xBB\xBF")))
        message.at += 3;
    span rest = skip_bytes(message, starts_with(message, LITERAL(">"))), line;
    if (!starts_with(rest, LITERAL("From ")) || !next_line(&rest, &line))
        return message.at;
    return is_empty(field_name(rest)) ? message.at : rest.at;
}

/* The end of a field's value: the first line feed that no blank follows. */
static const uint8_t *value_end(span text) {
    for (span rest = text;; rest.at++) {
        rest.at = before_first(rest, '\n').end;
        if (size_of(rest) < 2 || !is_blank(rest.at[1]))
            return rest.at;
    }
}

/* Reads the field that text begins with; false where there is none. */
static bool read_field(span *text, struct field *field) {
    field->name = field_name(*text);
    if (is_empty(field->name))
        return false;
    field->value = skip_blanks(span_between(find_byte(span_between(field->name.end, text->end), ':') + 1, text->end));
    field->value.end = value_end(field->value);
    *text = skip_bytes(span_between(field->value.end, text->end), 1);
    return true;
}

/* Adds a field to a section; behind very many those alone that count. */
static void add_field(struct reader *reader, struct section *section, struct field field) {
    size_t count = section->fields.count;
    field.is_counted = is_known(field.name, N_COUNTED);
    if (count < MAX_FIELDS || (count < MAX_COUNTED && field.is_counted))
        *LIST_ADD(&reader->arena, &section->fields) = field;
    else
        reader->message.cuts |= CUT_HEADERS;
}

struct section read_section(struct reader *reader, span message) {
    struct section section = {0};
    span rest = message, line;
    bool is_mail = false, has_content = false;
    struct field field;
    while (read_field(&rest, &field)) {
        add_field(reader, &section, field);
        is_mail = is_mail || is_known(field.name, COUNT_OF(KNOWN_FIELDS));
    }
    section.body = rest.at;
    section.n_early = section.fields.count;
    bool is_broken = !is_empty(rest) && *rest.at != '\n';
    if ((is_broken || is_empty(rest)) && !is_mail) { /* plain text handed over as if it were a message: "URGENT: call now" */
        section.fields.count = section.n_early = 0;
        section.body = message.at;
    } else if (!is_empty(rest) && !is_broken)
        section.body++;
    span behind = is_broken ? first_bytes(rest, MAX_BROKEN) : (span){0};
    while (!is_empty(behind) && *behind.at != '\n' && !starts_with(behind, LITERAL("--")))
        if (!read_field(&behind, &field))
            next_line(&behind, &line);
        else if (is_known(field.name, COUNT_OF(KNOWN_FIELDS))) {
            add_field(reader, &section, field);
            has_content = has_content || starts_with_any_case(field.name, LITERAL("content-"));
        }
    if (has_content)
        section.late_body = skip_bytes(span_between(behind.at, message.end), 1).at;
    return section;
}

/* An encoded word =?charset?B or Q?text?=, and what stands behind it. */
struct encoded_word {
    span charset, text, rest;
    bool is_base64;
};

static bool read_encoded_word(span value, struct encoded_word *word) {
    span rest = skip_bytes(value, 2), charset = before_first(first_bytes(rest, MAX_WORD_CHARSET + 1), '?');
    rest.at = charset.end;
    if (is_empty(charset) || find_byte(charset, ' ') || size_of(rest) < 5 || rest.at[0] != '?' || rest.at[2] != '?')
        return false;
    word->charset = before_first(charset, '*');
    word->is_base64 = (rest.at[1] | 32) == 'b';
    rest.at += 3;
    for (word->text = word->rest = rest;; word->rest.at++) {
        /* A question mark that some programs leave as it is ends no word. One behind "=" does: it may begin the next
         * word, and without that a thousand words that never end would each be searched to the end of the field. */
        word->rest.at = word->text.end = before_first(word->rest, '?').end;
        if (size_of(word->rest) < 2 || (word->rest.at > rest.at && word->rest.at[-1] == '=' && word->rest.at[1] != '='))
            return false;
        if (word->rest.at[1] == '=') {
            word->rest.at += 2;
            return word->is_base64 || (rest.at[-2] | 32) == 'q';
        }
    }
}

/* A value with its encoded words decoded; neighbours of one charset are joined before. */
static span decode_words(struct reader *reader, span value) {
    struct arena *arena = &reader->arena;
    span_list pieces = {0};
    struct encoded_word word;
    for (const uint8_t *found = value.at; (found = find(span_between(found, value.end), LITERAL("=?")));) {
        if (!read_encoded_word(span_between(found, value.end), &word)) {
            found += 2;
            continue;
        }
        *LIST_ADD(arena, &pieces) = span_between(value.at, found);
        span charset = lower_copy(arena, word.charset), next;
        struct writer writer = writer_open(arena, size_of(word.text));
        do {
            if (word.is_base64)
                put_base64(&writer, word.text);
            else
                put_quoted_printable(&writer, word.text, true);
            value = word.rest;
            next = skip_blanks(value);
            if (starts_with(next, LITERAL("=?")))
                value = next; /* blanks between words are none of the text */
        } while (starts_with(next, LITERAL("=?")) && read_encoded_word(next, &word) &&
                 is_same_any_case(word.charset, charset));
        *LIST_ADD(arena, &pieces) = decode_text(reader, writer_close(&writer), charset);
        found = value.at;
    }
    *LIST_ADD(arena, &pieces) = value;
    struct writer writer = writer_open(arena, size_of(value) + 64);
    for (size_t i = 0; i < pieces.count; i++)
        for (span piece = pieces.items[i]; piece.at < piece.end; piece.at++)
            put_byte(&writer, *piece.at == '\n' || *piece.at == '\r' ? ' ' : *piece.at);
    return writer_close(&writer);
}

span without(struct arena *arena, span text, span bytes) {
    const uint8_t *found = find(text, bytes);
    if (!found)
        return text;
    struct writer writer = writer_open(arena, size_of(text));
    for (; found; found = find(text, bytes)) {
        put_span(&writer, span_between(text.at, found));
        text.at = found + size_of(bytes);
    }
    put_span(&writer, text);
    return writer_close(&writer);
}

span field_value(struct reader *reader, span value, bool with_words) {
    if (size_of(value) > MAX_VALUE)
        reader->message.cuts |= CUT_HEADERS;
    value = without(&reader->arena, first_characters(value, MAX_VALUE), LITERAL("\n"));
    if (!is_ascii(value))
        value = decode_text(reader, value, LITERAL(""));
    if (with_words && find(value, LITERAL("=?")))
        value = decode_words(reader, value);
    return with_words ? without(&reader->arena, value, LITERAL("\0")) : value;
}

const struct field *find_field(const struct section *section, size_t n, span name, bool is_last) {
    const struct field *found = NULL;
    for (size_t i = 0; i < n && (is_last || !found); i++)
        if (is_same_any_case(section->fields.items[i].name, name))
            found = &section->fields.items[i];
    return found;
}

span value_of(struct reader *reader, const struct section *section, span name, bool with_words) {
    const struct field *field = find_field(section, section->fields.count, name, false);
    return field ? field_value(reader, field->value, with_words) : (span){0};
}

/* Which parameters are read. */
enum { CHARSET, BOUNDARY, NAME, FILENAME, DELSP, N_PARAMETERS };
static const char *const PARAMETER_NAMES[N_PARAMETERS] = {"charset", "boundary", "name", "filename", "delsp"};

struct parameter {
    span_list pieces;
    span charset; /* of a text with percents */
};

/* The value that rest begins with, without quotation marks and their escapes; rest goes on behind it. */
static span parameter_value(struct arena *arena, span *rest) {
    if (!starts_with(*rest, LITERAL("\""))) {
        span text = before_first(*rest, ';');
        rest->at = text.end;
        return strip(text);
    }
    struct writer writer = writer_open(arena, 64);
    for (rest->at++; !is_empty(*rest) && *rest->at != '"'; rest->at++) {
        rest->at += starts_with(*rest, LITERAL("\\\"")) || starts_with(*rest, LITERAL("\\\\"));
        put_byte(&writer, *rest->at);
    }
    *rest = skip_bytes(*rest, 1);
    return writer_close(&writer);
}

/* Adds a piece of a parameter (RFC 2231) to those before it. One with percents may begin charset'language'. */
static void add_piece(struct arena *arena, struct parameter *parameter, span text, bool has_percents) {
    const uint8_t *language = has_percents && !parameter->pieces.count ? find_byte(text, '\'') : NULL;
    const uint8_t *begin = language ? find_byte(span_between(language + 1, text.end), '\'') : NULL;
    if (begin) {
        parameter->charset = span_between(text.at, language);
        text.at = begin + 1;
    }
    *LIST_ADD(arena, &parameter->pieces) = has_percents ? percent_decoded(arena, text) : text;
}

span uncommented(span value) {
    for (value = strip(value); starts_with(value, LITERAL("(")) && find_byte(value, ')'); value = strip(value))
        value.at = find_byte(value, ')') + 1;
    return value;
}

struct parameters read_parameters(struct reader *reader, span value) {
    struct arena *arena = &reader->arena;
    struct parameter parameters[N_PARAMETERS] = {0};
    span texts[N_PARAMETERS], rest = uncommented(first_characters(value, MAX_PARAMETER_BYTES)), main = rest;
    while (!is_empty(rest) && *rest.at != ';' && !is_space(*rest.at))
        rest.at++;
    main.end = rest.at;
    while (!is_empty(rest)) {
        span name = rest;
        while (!is_empty(rest) && *rest.at != ';' && *rest.at != '=' && !is_space(*rest.at))
            rest.at++;
        name.end = rest.at;
        rest = is_empty(name) ? skip_bytes(rest, 1) : skip_blanks(rest);
        if (is_empty(name) || !starts_with(rest, LITERAL("=")))
            continue;
        rest = skip_blanks(skip_bytes(rest, 1));
        span text = parameter_value(arena, &rest), base = before_first(name, '*');
        for (size_t i = 0; i < N_PARAMETERS; i++) {
            struct parameter *parameter = &parameters[i];
            bool is_piece = base.end < name.end;
            if (is_same_any_case(base, span_of_text(PARAMETER_NAMES[i])) && (is_piece || !parameter->pieces.count))
                add_piece(arena, parameter, text, is_piece && name.end[-1] == '*');
        }
    }
    for (size_t i = 0; i < N_PARAMETERS; i++) {
        texts[i] = decode_text(reader, joined(arena, &parameters[i].pieces), parameters[i].charset);
        if (find(texts[i], LITERAL("=?")))
            texts[i] = decode_words(reader, texts[i]);
    }
    return (struct parameters){lower_copy(arena, main), texts[CHARSET], texts[BOUNDARY], texts[NAME], texts[FILENAME],
                               texts[DELSP]};
}
