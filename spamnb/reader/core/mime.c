#include "mime.h"

#include "header.h"
#include "reader.h"
#include "transfer.h"

enum {
    MAX_TYPE = 100, MAX_CHARSET = 60, MAX_ENCODING = 40, MAX_FILENAME = 255,
    GUESS_WITHIN = 1 << 16, /* bytes in which a line that looks like a boundary is looked for */
    MAX_DELIMITER = 73,
};

/* A part that may have parts. */
struct entity {
    struct part part;
    span boundary, body;
    int depth;
};

typedef LIST(struct entity) entity_list;

#define IS(text) is_same(name, LITERAL(text))

static bool is_html_type(span name) {
    return IS("text/html") || IS("text/htm") || IS("text/xhtml") || IS("html/text") || IS("application/html") ||
           IS("application/xhtml+xml") || IS("image/svg+xml");
}

static bool is_report_type(span name) {
    return IS("message/delivery-status") || IS("message/disposition-notification") || IS("message/feedback-report");
}

/* What a reader opens a file as whose type says nothing: by the end of its name. */
static enum shown_as by_file_name(span filename) {
    if (is_same_any_case(filename, LITERAL("winmail.dat")))
        return AS_TNEF;
    const uint8_t *dot = find_last(filename, '.');
    static const struct {
        const char *ending;
        enum shown_as as;
    } ENDINGS[] = {
        {"html", AS_HTML}, {"htm", AS_HTML}, {"xhtml", AS_HTML}, {"xht", AS_HTML}, {"shtml", AS_HTML}, {"svg", AS_HTML},
        {"eml", AS_MESSAGE}, {"txt", AS_TEXT}, {"text", AS_TEXT}, {"ics", AS_TEXT}, {"pdf", AS_PDF}, {"p7m", AS_SMIME},
    };
    span ending = dot ? span_between(dot + 1, filename.end) : filename;
    for (size_t i = 0; i < COUNT_OF(ENDINGS); i++)
        if (is_same_any_case(ending, span_of(ENDINGS[i].ending, strlen(ENDINGS[i].ending))))
            return ENDINGS[i].as;
    return AS_NOTHING;
}

enum shown_as shown_as(span name, span filename) {
    if (is_html_type(name))
        return AS_HTML;
    if (starts_with(name, LITERAL("multipart/")))
        return AS_MULTIPART;
    if (starts_with(name, LITERAL("message/")))
        return is_report_type(name) ? AS_REPORT : AS_MESSAGE;
    if (starts_with(name, LITERAL("text")) || IS("plain/text") || IS("application/ics"))
        return AS_TEXT;
    if (!starts_with(name, LITERAL("application/")))
        return AS_NOTHING;
    if (IS("application/pdf") || IS("application/x-pdf"))
        return AS_PDF;
    if (IS("application/pkcs7-mime") || IS("application/x-pkcs7-mime"))
        return AS_SMIME;
    if (IS("application/ms-tnef") || IS("application/vnd.ms-tnef"))
        return AS_TNEF;
    return by_file_name(filename);
}

/* Whether a text is a type: two words that nothing but a slash parts. */
static bool is_type(span text) {
    const uint8_t *slash = find_byte(text, '/');
    if (!slash || slash == text.at || slash + 1 == text.end)
        return false;
    for (const uint8_t *at = text.at; at < text.end; at++)
        if (at != slash && (is_space(*at) || !*at || strchr("/()\"',;", *at)))
            return false;
    return true;
}

/* The type that a misspelt one is meant to be: "text / html", "'text/plain'". */
static span repaired_type(struct arena *arena, span text) {
    struct writer writer = writer_open(arena, 200);
    text = first_bytes(text, 200);
    for (const uint8_t *at = text.at; at < text.end && *at != '('; at++) {
        bool near_slash = is_blank(*at) && ((at + 1 < text.end && at[1] == '/') || (at > text.at && at[-1] == '/'));
        if (*at && !near_slash && *at != '"' && *at != '\'' && *at != ',')
            put_byte(&writer, *at);
    }
    span found = before_first(strip(writer_close(&writer)), ' ');
    return is_type(found) ? found : LITERAL("text/plain");
}

/* The name of an encoding as it is meant: programs write base-64, quoted printable. */
static span encoding_named(struct arena *arena, span value) {
    value = strip_any(before_first(before_first(value, ';'), '('), "\"' \t");
    value = lower_copy(arena, first_characters(value, MAX_ENCODING));
    struct writer writer = writer_open(arena, MAX_ENCODING);
    for (const uint8_t *at = value.at; at < value.end; at++)
        if (*at != '-' && *at != ' ')
            put_byte(&writer, *at);
    span name = writer_close(&writer);
    if (IS("base64"))
        return LITERAL("base64");
    if (IS("quotedprintable"))
        return LITERAL("quoted-printable");
    if (IS("uuencode") || IS("xuuencode") || IS("uue") || IS("xuue"))
        return LITERAL("x-uuencode");
    return value;
}

/* The value of the first field of a name in lower case; NULL spans where there is none. */
static span value_of(struct reader *reader, const struct section *section, span name) {
    for (size_t i = 0; i < section->fields.count; i++)
        if (is_same_any_case(section->fields.items[i].name, name))
            return field_value(reader, section->fields.items[i].value, false);
    return (span){0};
}

/* What the Content-* fields of an entity say of it. */
static struct entity describe(struct reader *reader, const struct section *section, span body, span usual) {
    struct arena *arena = &reader->arena;
    struct entity entity = {.body = body, .part.size = size_of(body)};
    struct part *part = &entity.part;
    span type = value_of(reader, section, LITERAL("content-type"));
    struct parameters said = read_parameters(reader, is_empty(type) ? usual : type);
    part->content_type = is_type(said.main) ? said.main : repaired_type(arena, said.main);
    part->content_type = first_characters(part->content_type, MAX_TYPE);
    span charset = said.charset;
    const uint8_t *loose = is_empty(charset) ? find_any_case(first_bytes(type, 1000), LITERAL("charset")) : NULL;
    if (loose) /* a semicolon is missing */
        charset = strip_any(span_between(loose + 7, type.end), " =");
    charset = first_characters(before_first(strip_any(charset, "\"' "), ' '), MAX_CHARSET);
    part->charset = lower_copy(arena, charset);
    part->encoding = encoding_named(arena, value_of(reader, section, LITERAL("content-transfer-encoding")));
    part->filename = said.name;
    span disposition = value_of(reader, section, LITERAL("content-disposition"));
    if (disposition.at) {
        struct parameters more = read_parameters(reader, disposition);
        part->disposition = first_characters(more.main, MAX_ENCODING);
        if (more.filename.at)
            part->filename = more.filename;
    }
    part->filename = first_characters(part->filename, MAX_FILENAME);
    entity.boundary = said.boundary;
    return entity;
}

/* Ranges between the lines of a delimiter in a multipart body; one more than max_parts tells that there are more. */
static span_list between(struct arena *arena, span body, span delimiter, size_t max_parts) {
    span_list found = {0};
    const uint8_t *opened = NULL, *at = body.at;
    size_t n_empty = 0, n_false = 0;
    if (!starts_with(body, delimiter))
        at = find(body, delimiter);
    while (at && found.count <= max_parts && n_empty < MAX_FALSE_BOUNDARIES && n_false < MAX_FALSE_BOUNDARIES) {
        if (at > body.at && at[-1] != '\n') { /* it stands within a line */
            at = find(span_between(at + 1, body.end), delimiter);
            continue;
        }
        const uint8_t *after = at + size_of(delimiter), *line_end = find_byte(span_between(after, body.end), '\n');
        span rest = first_bytes(span_between(after, line_end ? line_end : body.end), 80);
        while (rest.at < rest.end && is_blank(rest.end[-1]))
            rest.end--;
        while (rest.at < rest.end && is_blank(*rest.at))
            rest.at++;
        bool is_last = is_same(rest, LITERAL("--"));
        if (is_last || is_empty(rest)) {
            if (opened && at - opened > 1)
                *LIST_ADD(arena, &found) = span_between(opened, at - 1); /* the line feed is the delimiter's */
            else /* two boundary lines in a row hold no part */
                n_empty++;
            if (is_last)
                return found;
            opened = line_end ? line_end + 1 : body.end;
        } else
            n_false++;
        at = line_end ? find(span_between(line_end + 1, body.end), delimiter) : NULL;
    }
    if (opened && found.count <= max_parts)
        *LIST_ADD(arena, &found) = span_between(opened, body.end);
    return found;
}

/* The first line that looks like a boundary: behind it a field of a part's header follows. */
static span guess_delimiter(span body) {
    for (span text = first_bytes(body, GUESS_WITHIN); text.at < text.end;) {
        const uint8_t *end = find_byte(text, '\n');
        if (!end)
            break;
        span line = span_between(text.at, end), next = span_between(end + 1, text.end);
        while (line.at < line.end && is_blank(line.end[-1]))
            line.end--;
        bool fits = starts_with(line, LITERAL("--")) && size_of(line) >= 5 && size_of(line) <= MAX_DELIMITER;
        for (const uint8_t *at = line.at; at < line.end && fits; at++)
            fits = *at > ' ' && *at < 127;
        if (fits && starts_with_any_case(next, LITERAL("content-")) && find_byte(first_bytes(next, 50), ':'))
            return line;
        text.at = end + 1;
    }
    return span_between(body.at, body.at);
}

static span_list children(struct arena *arena, const struct entity *entity, size_t max_parts) {
    if (!is_empty(entity->boundary)) {
        struct writer writer = writer_open(arena, size_of(entity->boundary) + 2);
        put_span(&writer, LITERAL("--"));
        put_span(&writer, entity->boundary);
        span_list found = between(arena, entity->body, writer_close(&writer), max_parts);
        if (found.count)
            return found;
    }
    /* The parameter is missing or wrong. */
    span guess = guess_delimiter(entity->body);
    return is_empty(guess) ? (span_list){0} : between(arena, entity->body, guess, max_parts);
}

static bool is_plain_text(const struct entity *entity) {
    return shown_as(entity->part.content_type, entity->part.filename) == AS_TEXT;
}

/* Puts the parts of an entity on the stack, the first on top; of alternatives plain text below all others. */
static void push_parts(struct arena *arena, entity_list *stack, const entity_list *parts, bool is_alternative) {
    for (int plain = 1; plain >= 0; plain--)
        for (size_t i = parts->count; i-- > 0;) {
            const struct entity *entity = &parts->items[i];
            if (is_alternative ? is_plain_text(entity) == plain : plain == 0)
                *LIST_ADD(arena, stack) = *entity;
        }
}

leaf_list read_leaves(struct reader *reader, const struct section *section, span message) {
    struct arena *arena = &reader->arena;
    leaf_list leaves = {0};
    entity_list stack = {0};
    size_t n_parts = 0, left = 4 * (size_t)MAX_TEXT; /* bytes of entities that are encoded as a whole */
    *LIST_ADD(arena, &stack) = describe(reader, section, span_between(section->body, message.end), LITERAL("text/plain"));
    while (stack.count) {
        struct entity entity = stack.items[--stack.count];
        struct part *part = &entity.part;
        enum shown_as as = shown_as(part->content_type, part->filename);
        span_list inner = {0};
        if (as == AS_MULTIPART) {
            inner = children(arena, &entity, MAX_PARTS - n_parts);
            if (!inner.count || entity.depth == MAX_DEPTH) { /* nothing separates parts: a reader sees text */
                part->content_type = LITERAL("text/plain");
                as = AS_TEXT;
            }
        } else if (as == AS_MESSAGE || as == AS_SMIME) {
            span body = first_bytes(entity.body, left < 2 * (size_t)MAX_TEXT ? left : 2 * (size_t)MAX_TEXT);
            bool is_encoded = is_same(part->encoding, LITERAL("base64")) ||
                              is_same(part->encoding, LITERAL("quoted-printable"));
            if (as == AS_SMIME && size_of(body) < size_of(entity.body))
                reader->message.cuts |= CUT_SMIME;
            if (is_encoded || as == AS_SMIME) {
                left -= size_of(body);
                body = transfer_decode(arena, body, part->encoding);
            } else
                body = entity.body;
            if (as == AS_SMIME && !reader->host->ask(reader->host, ASK_SIGNED, body, (span){0}, arena, &body))
                arena_fail(arena, FAILED_HOST);
            body = with_line_feeds(arena, body);
            if (as == AS_MESSAGE) {
                body.at = skip_envelope(body);
                entity.body = body;
            }
            if (as == AS_MESSAGE || !is_empty(body))
                *LIST_ADD(arena, &inner) = body;
        }
        bool is_nested = inner.count && entity.depth < MAX_DEPTH;
        if (inner.count && !is_nested)
            reader->message.cuts |= CUT_PARTS;
        if ((!is_nested || as == AS_SMIME || as == AS_MESSAGE) && ++n_parts > MAX_PARTS) {
            reader->message.cuts |= CUT_PARTS;
            break;
        }
        if (!is_nested || as == AS_SMIME)
            *LIST_ADD(arena, &leaves) = (struct leaf){.part = *part, .as = as, .body = entity.body};
        if (!is_nested)
            continue;
        bool is_digest = is_same(part->content_type, LITERAL("multipart/digest"));
        entity_list parts = {0};
        for (size_t i = 0; i < inner.count; i++) {
            struct section head = read_section(reader, inner.items[i]);
            if (as == AS_MESSAGE) {
                part->content_type = LITERAL("message/rfc822");
                *LIST_ADD(arena, &leaves) = (struct leaf){
                    .part = *part, .as = AS_MESSAGE, .body = inner.items[i], .is_header = true};
            }
            struct entity child = describe(reader, &head, span_between(head.body, inner.items[i].end),
                                           is_digest ? LITERAL("message/rfc822") : LITERAL("text/plain"));
            child.depth = entity.depth + 1;
            *LIST_ADD(arena, &parts) = child;
        }
        push_parts(arena, &stack, &parts, is_same(part->content_type, LITERAL("multipart/alternative")));
    }
    return leaves;
}
