/* Header sections: fields, parameters, encoded words. */
#include "reader.h"

enum {
    MAX_HEADER_BYTES = 1 << 18,
    MAX_FIELDS = 1000,
    MAX_PARAMETER_BYTES = 10000, /* of a value whose parameters are read */
    MAX_PIECES = 50,             /* of a parameter */
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

/* Names by which a line is known for a field of mail; a name that ends with "-" may go on. */
static const char *const KNOWN_FIELDS[] = {
    "subject", "from", "to", "cc", "bcc", "date", "sender", "reply-to", "received", "return-path", "message-id",
    "in-reply-to", "references", "mime-version", "content-", "lines", "organization", "organisation", "newsgroups",
    "path", "xref", "delivered-to", "errors-to", "precedence", "importance", "priority", "status", "user-agent",
    "list-", "dkim-signature", "authentication-results", "envelope-to", "keywords", "approved", "x-",
};

static bool is_known(span name) {
    for (size_t i = 0; i < COUNT_OF(KNOWN_FIELDS); i++) {
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

struct section read_section(struct reader *reader, span message) {
    struct section section = {.text = first_bytes(message, MAX_HEADER_BYTES)};
    span rest = section.text;
    bool is_mail = false, is_cut = false;
    for (struct field field; read_field(&rest, &field);) {
        is_cut = section.fields.count == MAX_FIELDS;
        if (!is_cut)
            *LIST_ADD(&reader->arena, &section.fields) = field;
        is_mail = is_mail || is_known(field.name);
    }
    if (is_cut || (is_empty(rest) && rest.end < message.end))
        reader->message.cuts |= CUT_HEADERS;
    section.text.end = section.body = rest.at;
    if (is_empty(rest) && rest.end < message.end) {
        const uint8_t *blank = find(span_between(rest.at - 1, message.end), LITERAL("\n\n"));
        section.body = blank ? blank + 2 : message.end;
    } else if (!is_empty(rest) && *rest.at == '\n')
        section.body++;
    else if (!is_mail) { /* plain text handed over as if it were a message: "URGENT: call now" */
        section.fields.count = 0;
        section.text.end = section.body = message.at;
    }
    return section;
}

span lasting_fields(struct reader *reader, const struct section *section) {
    struct writer writer = writer_open(&reader->arena, size_of(section->text));
    for (size_t i = 0; i < section->fields.count; i++) {
        const struct field *field = &section->fields.items[i];
        if (header_rule_of(&reader->rules, field->name)->how == HOW_VOLATILE)
            continue;
        put_span(&writer, span_between(field->name.at, field->value.end));
        put_byte(&writer, '\n');
    }
    return strip_any(writer_close(&writer), "\n");
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

span without_byte(struct arena *arena, span text, uint8_t byte) {
    if (!find_byte(text, byte))
        return text;
    struct writer writer = writer_open(arena, size_of(text));
    for (; !is_empty(text); text = skip_bytes(text, 1)) {
        put_span(&writer, before_first(text, byte));
        text.at = before_first(text, byte).end;
    }
    return writer_close(&writer);
}

span field_value(struct reader *reader, span value, bool with_words) {
    value = without_byte(&reader->arena, value, '\n');
    if (!is_ascii(value))
        value = decode_text(reader, value, LITERAL(""));
    if (with_words && find(value, LITERAL("=?")))
        value = decode_words(reader, value);
    return with_words ? without_byte(&reader->arena, value, 0) : value;
}

span value_of(struct reader *reader, const struct section *section, span name, bool with_words) {
    for (size_t i = 0; i < section->fields.count; i++)
        if (is_same_any_case(section->fields.items[i].name, name))
            return field_value(reader, section->fields.items[i].value, with_words);
    return (span){0};
}

/* Which parameters are read. */
enum { CHARSET, BOUNDARY, NAME, FILENAME, N_PARAMETERS };
static const char *const PARAMETER_NAMES[N_PARAMETERS] = {"charset", "boundary", "name", "filename"};

struct parameter {
    span text, charset; /* charset: of a text with percents */
    size_t n_pieces;
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
    const uint8_t *language = has_percents && !parameter->n_pieces ? find_byte(text, '\'') : NULL;
    const uint8_t *begin = language ? find_byte(span_between(language + 1, text.end), '\'') : NULL;
    if (begin) {
        parameter->charset = span_between(text.at, language);
        text.at = begin + 1;
    }
    parameter->text = two_spans(arena, parameter->text, has_percents ? percent_decoded(arena, text) : text);
    parameter->n_pieces++;
}

struct parameters read_parameters(struct reader *reader, span value) {
    struct arena *arena = &reader->arena;
    struct parameter parameters[N_PARAMETERS] = {0};
    span rest = strip(first_characters(value, MAX_PARAMETER_BYTES)), main = rest;
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
            bool is_piece = base.end < name.end && parameter->n_pieces < MAX_PIECES;
            if (is_same_any_case(base, span_of_text(PARAMETER_NAMES[i])) &&
                (is_piece || !parameter->n_pieces))
                add_piece(arena, parameter, text, is_piece && name.end[-1] == '*');
        }
    }
    for (size_t i = 0; i < N_PARAMETERS; i++) {
        span *text = &parameters[i].text;
        *text = decode_text(reader, *text, parameters[i].charset);
        if (find(*text, LITERAL("=?")))
            *text = decode_words(reader, *text);
    }
    return (struct parameters){lower_copy(arena, main), parameters[CHARSET].text, parameters[BOUNDARY].text,
                               parameters[NAME].text, parameters[FILENAME].text};
}
