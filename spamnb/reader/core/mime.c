/* The body of a message: its multipart structure, and what is said of each part. */
#include "reader.h"

enum {
    MAX_DEPTH = 16, MAX_TYPE = 100, MAX_CHARSET = 60, MAX_ENCODING = 40, MAX_FILENAME = 255,
    MAX_FALSE_BOUNDARIES = 2000, MAX_DOCUMENTS = 3, MAX_CODED_BYTES = 3 << 22,
};

/* How a type, or what begins with a type that ends with "/", is shown; a file whose type says nothing by the end of its
 * name. */
static const struct shown_type {
    const char *name;
    enum shown_as as;
} TYPES[] = {
    {"text/html", AS_HTML}, {"text/htm", AS_HTML}, {"text/xhtml", AS_HTML}, {"html/text", AS_HTML},
    {"application/html", AS_HTML}, {"application/xhtml+xml", AS_HTML}, {"image/svg+xml", AS_HTML},
    {"message/delivery-status", AS_REPORT}, {"message/disposition-notification", AS_REPORT},
    {"message/feedback-report", AS_REPORT}, {"application/pdf", AS_PDF}, {"application/x-pdf", AS_PDF},
    {"application/pkcs7-mime", AS_SMIME}, {"application/x-pkcs7-mime", AS_SMIME}, {"application/ms-tnef", AS_TNEF},
    {"application/vnd.ms-tnef", AS_TNEF}, {"application/ics", AS_TEXT}, {"plain/text", AS_TEXT},
    {"multipart/", AS_MULTIPART}, {"message/", AS_MESSAGE}, {"text/", AS_TEXT}, {".html", AS_HTML}, {".htm", AS_HTML},
    {".xhtml", AS_HTML}, {".xht", AS_HTML}, {".shtml", AS_HTML}, {".svg", AS_HTML}, {".eml", AS_MESSAGE},
    {".txt", AS_TEXT}, {".text", AS_TEXT}, {".ics", AS_TEXT}, {".pdf", AS_PDF}, {".p7m", AS_SMIME},
};

static enum shown_as shown_type_of(span type) {
    for (size_t i = 0; i < COUNT_OF(TYPES); i++) {
        span name = span_of_text(TYPES[i].name);
        if (name.end[-1] == '/' ? starts_with(type, name) : is_same_any_case(type, name))
            return TYPES[i].as;
    }
    return AS_NOTHING;
}

static enum shown_as shown_as(const struct entity *part) {
    enum shown_as as = shown_type_of(part->content_type);
    if (as != AS_NOTHING || !starts_with(part->content_type, LITERAL("application/")))
        return as;
    if (is_same_any_case(part->filename, LITERAL("winmail.dat")))
        return AS_TNEF;
    const uint8_t *dot = find_last(part->filename, '.');
    return dot ? shown_type_of(span_between(dot, part->filename.end)) : AS_NOTHING;
}

/* A name in lower case as it is meant, without comments, quotes and blanks: programs write "base 64", "text/html,". */
static span plain_name(struct arena *arena, span value, size_t most) {
    value = lower_copy(arena, first_characters(before_first(before_first(value, ';'), '('), most));
    struct writer writer = writer_open(arena, most);
    for (; value.at < value.end; value.at++)
        if (*value.at > ' ' && *value.at != '"' && *value.at != '\'' && *value.at != ',')
            put_byte(&writer, *value.at);
    return writer_close(&writer);
}

static span encoding_named(struct arena *arena, span value) {
    span name = plain_name(arena, value, MAX_ENCODING);
    return is_same(name, LITERAL("base-64")) ? LITERAL("base64")
           : is_same(name, LITERAL("quotedprintable")) ? LITERAL("quoted-printable") : name;
}

/* What the Content-* fields of a message or part say of it. */
static struct entity describe(struct reader *reader, const struct section *section, span message, const char *usual) {
    struct arena *arena = &reader->arena;
    span type = value_of(reader, section, LITERAL("content-type"), false);
    span encoding = value_of(reader, section, LITERAL("content-transfer-encoding"), false);
    span disposition = value_of(reader, section, LITERAL("content-disposition"), false);
    struct parameters said = read_parameters(reader, is_empty(type) ? span_of_text(usual) : type);
    struct parameters more = read_parameters(reader, disposition);
    span name = plain_name(arena, said.main, MAX_TYPE);
    const uint8_t *slash = find_byte(name, '/');
    if (!slash || slash == name.at || slash + 1 == name.end)
        name = LITERAL("text/plain");
    span charset = before_first(strip_any(said.charset, "\"' "), ' ');
    struct entity entity = {
        .content_type = name,
        .charset = lower_copy(arena, first_characters(charset, MAX_CHARSET)),
        .encoding = encoding_named(arena, encoding),
        .disposition = first_characters(more.main, MAX_ENCODING),
        .filename = first_characters(is_empty(more.filename) ? said.name : more.filename, MAX_FILENAME),
        .boundary = said.boundary,
        .body = span_between(section->body, message.end),
    };
    entity.as = shown_as(&entity);
    return entity;
}

/* Whether a delimiter ends with its line, and whether it is the last one. */
static bool is_delimiter(span rest_of_line, bool *is_last) {
    rest_of_line = first_bytes(rest_of_line, 80);
    *is_last = starts_with(rest_of_line, LITERAL("--"));
    return is_empty(strip(skip_bytes(rest_of_line, *is_last ? 2 : 0)));
}

/* The texts between the lines of a delimiter in a multipart body; max_parts of them, and one that tells of more. */
static span_list parts_of(struct arena *arena, const struct entity *entity, size_t max_parts) {
    span_list found = {0};
    if (is_empty(entity->boundary))
        return found;
    span delimiter = two_spans(arena, LITERAL("--"), entity->boundary), rest = entity->body, line;
    const uint8_t *opened = NULL, *at;
    bool is_last = false;
    for (size_t n_false = 0; !is_last && found.count <= max_parts && n_false < MAX_FALSE_BOUNDARIES;) {
        at = find(rest, delimiter);
        if (!at)
            break;
        bool begins_line = at == entity->body.at || at[-1] == '\n';
        rest.at = at + size_of(delimiter);
        if (begins_line)
            next_line(&rest, &line);
        if (!begins_line || !is_delimiter(line, &is_last)) {
            n_false += begins_line;
            is_last = false;
            continue;
        }
        if (opened && at - opened > 1)
            *LIST_ADD(arena, &found) = span_between(opened, at - 1); /* the line feed is the delimiter's */
        else
            n_false++; /* two delimiters in a row hold no part */
        opened = rest.at;
    }
    if (opened && !is_last && found.count <= max_parts)
        *LIST_ADD(arena, &found) = span_between(opened, entity->body.end);
    return found;
}

/* What is left of the bounds while leaves are read. */
struct walk {
    struct reader *reader;
    entity_list leaves;
    size_t n_documents; /* that the program opened */
};

static unsigned cut_of(enum shown_as as) {
    return as == AS_PDF ? CUT_PDF : as == AS_SMIME ? CUT_SMIME : as == AS_TNEF ? CUT_TNEF : CUT_TEXT;
}

/* Whether an entity may stand inside a part. */
static bool is_opened(struct walk *walk, const struct entity *entity) {
    switch (entity->as) {
    case AS_MESSAGE: case AS_SMIME:
        return true;
    case AS_PDF: case AS_TNEF:
        if (walk->n_documents++ < MAX_DOCUMENTS)
            return true;
        walk->reader->message.cuts |= cut_of(entity->as);
        return false;
    default:
        return false;
    }
}

/* The entity inside a part; empty where none is. */
static span inner_entity(struct walk *walk, const struct entity *entity) {
    struct reader *reader = walk->reader;
    struct arena *arena = &reader->arena;
    span body = entity->body;
    if (entity->as != AS_MESSAGE || is_one_of(entity->encoding, "base64 quoted-printable")) {
        if (size_of(body) > MAX_CODED_BYTES)
            reader->message.cuts |= cut_of(entity->as);
        body = decode_transfer(reader, first_bytes(body, MAX_CODED_BYTES), entity->encoding);
    }
    if (entity->as == AS_MESSAGE) {
        body = with_line_feeds(arena, body);
        return span_between(skip_envelope(body), body.end);
    }
    enum ask what = entity->as == AS_PDF ? ASK_PDF : entity->as == AS_SMIME ? ASK_SMIME : ASK_TNEF;
    struct answer opened = ask(reader, what, body, (span){0});
    if (!opened.is_whole)
        reader->message.cuts |= cut_of(entity->as);
    return with_line_feeds(arena, opened.text);
}

static void walk_entity(struct walk *walk, struct entity entity, int depth) {
    struct reader *reader = walk->reader;
    bool is_message = entity.as == AS_MESSAGE, is_alternative = false;
    span_list inner = {0};
    const char *usual = "text/plain";
    if (walk->leaves.count == MAX_PARTS) {
        reader->message.cuts |= CUT_PARTS;
        return;
    }
    if (entity.as == AS_MULTIPART) {
        inner = parts_of(&reader->arena, &entity, MAX_PARTS - walk->leaves.count);
        is_alternative = is_same(entity.content_type, LITERAL("multipart/alternative"));
        usual = is_same(entity.content_type, LITERAL("multipart/digest")) ? "message/rfc822" : usual;
    } else if (is_opened(walk, &entity)) {
        span body = inner_entity(walk, &entity);
        entity.body = is_message ? body : entity.body;
        if (is_message || !is_empty(body))
            *LIST_ADD(&reader->arena, &inner) = body;
    }
    if (inner.count && depth == MAX_DEPTH) {
        reader->message.cuts |= CUT_PARTS;
        inner.count = 0;
    }
    if (entity.as == AS_MULTIPART && !inner.count) { /* nothing separates parts: a reader sees text */
        entity.content_type = LITERAL("text/plain");
        entity.as = AS_TEXT;
    }
    if (is_message)
        entity.content_type = LITERAL("message/rfc822");
    if (entity.as != AS_MULTIPART)
        *LIST_ADD(&reader->arena, &walk->leaves) = entity;
    struct entity *parts = arena_take(&reader->arena, inner.count, sizeof *parts);
    for (size_t i = 0; i < inner.count; i++) {
        struct section section = read_section(reader, inner.items[i]);
        parts[i] = describe(reader, &section, inner.items[i], usual);
    }
    for (int plain = 0; plain <= is_alternative; plain++)
        for (size_t i = 0; i < inner.count; i++)
            if (!is_alternative || (parts[i].as == AS_TEXT) == plain)
                walk_entity(walk, parts[i], depth + 1);
}

entity_list read_leaves(struct reader *reader, const struct section *section, span message) {
    struct walk walk = {.reader = reader};
    walk_entity(&walk, describe(reader, section, message, "text/plain"), 0);
    return walk.leaves;
}
