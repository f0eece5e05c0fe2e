/* The parts of a message, and the fields that describe each part. */
#include "reader.h"

enum {
    MAX_TYPE = 100, MAX_CHARSET = 60, MAX_ENCODING = 40, MAX_FILENAME = 255, /* bytes; ordinary mail: 71, 17, 17, 86 */
    MAX_DOCUMENTS = 4, /* of one message, opened by Python, because a PDF may take a second; ordinary mail: 2 */
    MAX_ENCODED_BYTES = 3 << 22, /* of a document or of an encoded inner message; ordinary mail: 115,172 */
    MAX_MARGIN_PARTS = 100, /* parts in the margins of a multipart that are read */
    MAX_PARTS = 10000, /* of a message; ordinary mail: 22. A part that programs read in two ways counts twice. 1 MB of
                        * small parts takes 126 MB of memory; without the bound, 247 MB */
    MANY_PARTS = 1000, /* of a multipart; later parts are read only if they have a body, so that empty parts cannot use
                        * up MAX_PARTS */
    MAX_SEARCHES = 16, /* of each byte for boundaries, on average; ordinary mail: 3, one for each level of nested
                        * multiparts. 1 MB of nested messages takes 2 ms; without the bound, 138 ms */
    MIN_SEARCHED_BYTES = 32 << 20, /* besides MAX_SEARCHES, because a short message may be nested deeply */
    MAX_READINGS = 4, /* of each byte, on average; ordinary mail: 1. Two types and two encodings at each of seven levels
                       * would be 16,384 readings of one text */
};

/* How mail readers show parts of a type. A name that ends with "/" stands for all types with this beginning. A name
 * that begins with "." is the end of a filename, by which parts of an unknown type "application/..." are shown, and
 * parts of a type that is misspelt. */
static const struct type_display {
    const char *name;
    enum display display;
} TYPES[] = {
    {"text/enriched", AS_ENRICHED}, {"text/richtext", AS_ENRICHED}, {"text/rtf", AS_RTF}, {"application/rtf", AS_RTF},
    {"text/html", AS_HTML}, {"text/htm", AS_HTML}, {"text/xhtml", AS_HTML}, {"html/text", AS_HTML},
    {"application/html", AS_HTML}, {"application/xhtml+xml", AS_HTML}, {"image/svg+xml", AS_HTML},
    {"message/delivery-status", AS_REPORT}, {"message/disposition-notification", AS_REPORT},
    {"message/feedback-report", AS_REPORT}, {"application/pdf", AS_PDF}, {"application/x-pdf", AS_PDF},
    {"application/pkcs7-mime", AS_SMIME}, {"application/x-pkcs7-mime", AS_SMIME}, {"application/ms-tnef", AS_TNEF},
    {"application/vnd.ms-tnef", AS_TNEF}, {"application/ics", AS_TEXT}, {"plain/text", AS_TEXT},
    {"text/x-amp-html", AS_HTML}, {"application/pgp", AS_TEXT},
    {"multipart/", AS_MULTIPART}, {"message/", AS_MESSAGE}, {"text/", AS_TEXT}, {".html", AS_HTML}, {".htm", AS_HTML},
    {".xhtml", AS_HTML}, {".xht", AS_HTML}, {".shtml", AS_HTML}, {".svg", AS_HTML}, {".eml", AS_MESSAGE},
    {".txt", AS_TEXT}, {".text", AS_TEXT}, {".rtf", AS_RTF}, {".ics", AS_TEXT}, {".pdf", AS_PDF}, {".p7m", AS_SMIME},
};

/* The first words of types. A type with another one is misspelt. */
static const char KINDS[] = "text multipart application image message audio video font model chemical";

/* The types of texts and messages that mail readers show. They show parts of other types as a file, as a card, or not. */
static const char SHOWN_TYPES[] = "text/plain text/html text/enriched text/richtext message/rfc822";

static enum display display_of_type(span type) {
    for (size_t i = 0; i < COUNT_OF(TYPES); i++) {
        span name = span_of_text(TYPES[i].name);
        if (name.end[-1] == '/' ? starts_with(type, name) : is_same_any_case(type, name))
            return TYPES[i].display;
    }
    return AS_NOTHING;
}

static enum display display_of(const struct entity *part) {
    enum display display = display_of_type(part->content_type);
    span kind = before_first(part->content_type, '/');
    if (display != AS_NOTHING || (is_one_of(kind, KINDS) && !is_same(kind, LITERAL("application"))))
        return display;
    if (is_same_any_case(part->filename, LITERAL("winmail.dat")))
        return AS_TNEF;
    if (starts_with(part->body, LITERAL("JVBERi")) || starts_with(part->body, LITERAL("%PDF-"))) /* the first in base64 */
        return AS_PDF;
    const uint8_t *dot = find_last(part->filename, '.');
    return dot ? display_of_type(span_between(dot, part->filename.end)) : AS_NOTHING;
}

/* Returns a name in lower case, without comments, blanks, and characters that names cannot have (RFC 2045), because
 * some programs write "base 64" or "<text/html>". */
static span normalize_name(struct arena *arena, span value, size_t max_bytes) {
    value = remove_comments(arena, value);
    for (const char *end = ";,:"; *end; end++)
        value = before_first(value, (uint8_t)*end);
    value = copy_lower(arena, truncate_text(value, max_bytes));
    struct writer writer = writer_open(arena, max_bytes);
    for (; value.at < value.end; value.at++)
        if (*value.at > ' ' && !find_byte(LITERAL("\"'<>()@[]\\?="), *value.at))
            put_byte(&writer, *value.at);
    return writer_close(&writer);
}

/* Returns the name of an encoding by its beginning: some programs write "base-64" or "quoted/printable", and other words
 * may follow the name. */
static span encoding_name(struct arena *arena, span value) {
    static const char *const NAMES[][2] = {
        {"base64", "base64"}, {"base-64", "base64"}, {"quoted", "quoted-printable"}, {"uu", "x-uuencode"},
        {"x-uu", "x-uuencode"},
    };
    span name = normalize_name(arena, value, MAX_ENCODING);
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (starts_with(name, span_of_text(NAMES[i][0])))
            return span_of_text(NAMES[i][1]);
    return name;
}

/* Returns the description of a part of a section by these fields, which may be NULL. */
static struct entity describe_part(struct reader *reader, const struct section *section, const struct field *type_field,
                                   const struct field *encoding_field, span body, const char *default_type) {
    struct arena *arena = &reader->arena;
    span type = field_value(reader, type_field, false), encoding = field_value(reader, encoding_field, false);
    struct parameters type_parameters = read_parameters(reader, is_empty(type) ? span_of_text(default_type) : type);
    span value = value_of(reader, section, LITERAL("content-disposition"), false);
    struct parameters disposition_parameters = read_parameters(reader, value);
    span disposition = disposition_parameters.main;
    span name = normalize_name(arena, type_parameters.main, MAX_TYPE);
    span charset = strip_any(type_parameters.charset, "\"' ");
    const uint8_t *blank = find_byte(charset, ' ');
    if (blank && !is_digit(blank[1])) /* unlike "windows 1251" */
        charset.end = blank;
    span filename = is_empty(disposition_parameters.filename) ? type_parameters.name : disposition_parameters.filename;
    bool is_type = find_byte(name, '/') && *name.at != '/' && name.end[-1] != '/';
    bool is_misspelt = is_type && is_empty(filename) && !is_one_of(before_first(name, '/'), KINDS) &&
                       display_of_type(name) == AS_NOTHING;
    if (!is_type || is_misspelt)
        name = !is_empty(type_parameters.boundary) ? LITERAL("multipart/mixed")
               : find(name, LITERAL("html")) ? LITERAL("text/html") : LITERAL("text/plain");
    bool is_multipart = starts_with(name, LITERAL("multipart/"));
    bool is_elsewhere = !is_empty(disposition) && !is_same(disposition, LITERAL("inline"));
    struct entity entity = {
        .content_type = name,
        .charset = copy_lower(arena, truncate_text(charset, MAX_CHARSET)),
        .encoding = encoding_name(arena, encoding),
        .filename = truncate_text(filename, MAX_FILENAME),
        .content_id = strip_any(value_of(reader, section, LITERAL("content-id"), false), "<> "),
        .start = strip_any(type_parameters.start, "<> "),
        .is_doubtful = is_misspelt, /* mail readers may show it as a file */
        .is_attached = is_elsewhere || !(is_multipart || is_one_of(name, SHOWN_TYPES)),
        .deletes_spaces = is_same_any_case(type_parameters.delsp, LITERAL("yes")),
        .boundary = type_parameters.boundary,
        .other_boundary = type_parameters.other_boundary,
        .body = body,
    };
    entity.display = display_of(&entity);
    return entity;
}

/* Returns whether a part has no text besides a header section. */
static bool is_blank_part(span part) {
    const uint8_t *body = find_byte(before_first(part, '\n'), ':') ? find(part, LITERAL("\n\n")) : part.at;
    return body && is_empty(strip(span_between(body, part.end)));
}

/* Returns the boundary by the body: of the first line "--boundary" before a field "Content-...". Writes the text from the
 * first such field on, which may be a part whose delimiter is lacking. */
static span find_boundary(span body, span *content) {
    span line = {0};
    *content = (span){0};
    do {
        if (!starts_with_any_case(body, LITERAL("content-")))
            continue;
        if (starts_with(line, LITERAL("--")) && size_of(line) > 2)
            return strip(skip_bytes(line, 2));
        *content = content->at ? *content : body;
    } while (next_line(&body, &line));
    return (span){0};
}

/* Returns the next delimiter line of a body in tail, and moves tail after it; NULL if there is none. Writes whether it is
 * the last one, "--boundary--". Other words may follow the delimiter on its line, after a space. */
static const uint8_t *next_delimiter(span body, span delimiter, span *tail, bool *is_last) {
    const uint8_t *at;
    span line;
    while ((at = find(*tail, delimiter))) {
        tail->at = at + size_of(delimiter);
        if (at > body.at && at[-1] != '\n')
            continue;
        next_line(tail, &line);
        *is_last = starts_with(line, LITERAL("--"));
        line = skip_bytes(line, *is_last ? 2 : 0);
        if (is_empty(line) || is_space(*line.at))
            return at;
    }
    return NULL;
}

/* Adds the parts of a body between its delimiter lines. After MAX_PARTS parts, each part takes the place of the one before
 * it, because the last part may be the one that is shown. The margins, above the first delimiter and below the last one,
 * may have parts of another boundary, of a delimiter that is written wrongly, or of a multipart inside that has the
 * boundary of the one around it; or a part without a delimiter. These are added to margins, if this is not NULL, and so
 * are parts after the last delimiter. */
static void split_parts(struct arena *arena, span body, span boundary, span_list *parts, span_list *margins) {
    span delimiter = concatenate(arena, LITERAL("--"), boundary), tail = body, part = body;
    bool is_last = false, is_margin = true, is_below = false; /* is_below: after the last delimiter */
    const uint8_t *at = is_empty(boundary) ? NULL : next_delimiter(body, delimiter, &tail, &is_last);
    for (bool is_inside = at; is_inside;) {
        part.end = at ? at : body.end;
        if (is_margin && margins) {
            span content, inner = find_boundary(part, &content);
            split_parts(arena, part, inner, margins, NULL);
            if (is_empty(inner) && content.at)
                *LIST_ADD(arena, margins) = content;
        }
        if (!is_margin && (size_of(part) > 1 || !at) && (parts->count < MANY_PARTS || !is_blank_part(part))) {
            span_list *list = is_below && margins ? margins : parts;
            list->count -= list->count > MAX_PARTS;
            part.end -= at != NULL; /* the line feed before a delimiter belongs to it */
            *LIST_ADD(arena, list) = part;
        }
        is_inside = at;
        is_margin = is_last;
        is_below |= is_last;
        part.at = tail.at;
        at = at ? next_delimiter(body, delimiter, &tail, &is_last) : NULL;
    }
}

/* The state of read_leaves. */
struct walk {
    struct reader *reader;
    entity_list open, leaves;      /* open: the parts that are still to be read, the next part last */
    size_t n_parts, n_documents;   /* n_documents: opened by Python */
    size_t search_left, read_left; /* bytes that may still be searched for boundaries; bytes that may still be read */
};

/* Returns the parts of a multipart by its boundaries, and those in its margins. Some programs encode a multipart as a
 * whole. If no boundary is in the body, returns the parts by the boundary that is. Where mail readers may find other
 * parts, the multipart is doubtful, unless it is the message as a whole. */
static span_list find_parts(struct walk *walk, struct entity *entity, span_list *margins) {
    struct reader *reader = walk->reader;
    struct arena *arena = &reader->arena;
    span_list parts = {0};
    span body = entity->body, rest;
    split_parts(arena, body, entity->boundary, &parts, margins);
    size_t n_parts = parts.count;
    split_parts(arena, body, entity->other_boundary, &parts, margins);
    entity->is_doubtful |= n_parts && parts.count > n_parts;
    n_parts = parts.count;
    if (!parts.count) {
        body = decode_transfer(reader, first_bytes(body, MAX_ENCODED_BYTES), entity->encoding, &rest);
        body = convert_line_ends(arena, body);
        split_parts(arena, body, entity->boundary, &parts, margins);
    }
    if (!parts.count)
        split_parts(arena, body, find_boundary(body, &rest), &parts, margins);
    entity->is_doubtful |= parts.count > n_parts && walk->n_parts > 1;
    return parts;
}

/* Returns whether MAX_PARTS and MAX_READINGS allow one more reading of a part. */
static bool may_read(struct walk *walk) {
    bool is_within = walk->n_parts < MAX_PARTS && walk->read_left;
    if (!is_within)
        walk->reader->message.truncations |= TRUNCATED_PARTS;
    return is_within;
}

static void add_part(struct walk *walk, entity_list *parts, struct entity entity, size_t header_bytes) {
    *LIST_ADD(&walk->reader->arena, parts) = entity;
    walk->n_parts++;
    walk->read_left -= header_bytes < walk->read_left ? header_bytes : walk->read_left;
}

/* Adds each reading of a part that a mail reader may choose: of several fields with one name, programs read the first
 * or the last one. If they differ, the part is doubtful. */
static void add_readings(struct walk *walk, entity_list *parts, span text, const char *default_type) {
    struct reader *reader = walk->reader;
    struct section section = read_section(reader, text);
    const struct field *types[2], *encodings[2], *dispositions[2];
    size_t n_types = find_readings(&section, LITERAL("content-type"), types);
    size_t n_encodings = find_readings(&section, LITERAL("content-transfer-encoding"), encodings);
    bool is_ambiguous = n_types || n_encodings || find_readings(&section, LITERAL("content-disposition"), dispositions);
    span body = span_between(section.body, text.end);
    size_t header_bytes = size_of(span_between(text.at, body.at));
    if (!is_empty(section.stray))
        add_part(walk, parts, (struct entity){.display = AS_TEXT, .body = section.stray}, 0);
    for (size_t type = 0; type <= n_types; type++)
        for (size_t encoding = 0; encoding <= n_encodings; encoding++)
            if (!(type || encoding) || may_read(walk)) {
                struct entity part = describe_part(reader, &section, types[type], encodings[encoding], body, default_type);
                part.is_doubtful |= is_ambiguous;
                add_part(walk, parts, part, header_bytes);
            }
}

static unsigned truncation_of(enum display display) {
    return display >= AS_PDF ? TRUNCATED_PDF << (display - AS_PDF) : TRUNCATED_TEXT;
}

/* Returns the entity inside a message or a document; an empty span if the document has none. */
static span inner_entity(struct walk *walk, const struct entity *entity) {
    struct reader *reader = walk->reader;
    struct arena *arena = &reader->arena;
    span body = entity->body;
    if (entity->display != AS_MESSAGE || is_one_of(entity->encoding, "base64 quoted-printable x-uuencode")) {
        if (size_of(body) > MAX_ENCODED_BYTES)
            reader->message.truncations |= truncation_of(entity->display);
        span rest;
        body = decode_transfer(reader, first_bytes(body, MAX_ENCODED_BYTES), entity->encoding, &rest);
    }
    if (entity->display == AS_MESSAGE) {
        body = convert_line_ends(arena, body);
        return span_between(skip_envelope(body), body.end);
    }
    struct answer answer = ask(reader, ASK_PDF + (entity->display - AS_PDF), body, (span){0});
    if (!answer.is_whole)
        reader->message.truncations |= truncation_of(entity->display);
    return convert_line_ends(arena, answer.text);
}

/* Returns how far a mail reader prefers an alternative; of equals, it shows the last one. */
static int preference_of(const struct entity *part) {
    bool is_page = is_same(part->content_type, LITERAL("text/html")) || part->display == AS_MULTIPART;
    return is_page ? 2 : is_one_of(part->content_type, SHOWN_TYPES);
}

/* Returns whether start= of a multipart names a part that is not its first one. If start= names no part, mail readers show
 * the first one. */
static bool names_other_root(const entity_list *parts, size_t first, span start) {
    bool is_other = false;
    for (size_t i = first; i < parts->count && !is_empty(start); i++)
        if (is_same(parts->items[i].content_id, start)) {
            if (i == first)
                return false;
            is_other = true;
        }
    return is_other;
}

/* Adds the parts of an entity to walk->open in reverse order, because the last one is read next. The last part is read
 * after all bounds, because it may be the one that is shown. Of alternatives one part is plain, and of
 * multipart/related and the like the first one, unless start= names another root. The others are doubtful, and so are all
 * parts of multipart/encrypted. The parts in the margins are doubtful and read after the others, and at most
 * MAX_MARGIN_PARTS of them, because few mail readers show them, and they must not use up the bounds. */
static void open_parts(struct walk *walk, const struct entity *entity, span_list inner, span_list margins) {
    span kind = entity->content_type;
    bool is_alternative = is_same(kind, LITERAL("multipart/alternative"));
    bool has_root = is_one_of(kind, "multipart/related multipart/signed multipart/appledouble");
    bool is_digest = is_same(kind, LITERAL("multipart/digest"));
    const char *default_type = is_digest ? "message/rfc822" : "text/plain"; /* of parts that have no Content-Type */
    entity_list parts = {0};
    size_t shown = 0; /* the alternative that is shown, or the root */
    int preference = 0;
    for (size_t i = 0; i < inner.count; i++)
        if (may_read(walk) || i + 1 == inner.count) {
            size_t first = parts.count;
            add_readings(walk, &parts, inner.items[i], default_type);
            first += is_empty(parts.items[first].content_type); /* stray lines come before the part */
            if (is_alternative ? preference_of(&parts.items[first]) >= preference : !i) {
                preference = preference_of(&parts.items[first]);
                shown = first;
            }
        }
    bool is_hidden = is_same(kind, LITERAL("multipart/encrypted")) || names_other_root(&parts, shown, entity->start);
    size_t n_inner = parts.count;
    for (size_t i = 0; i < margins.count && i < MAX_MARGIN_PARTS && may_read(walk); i++)
        add_readings(walk, &parts, margins.items[i], default_type);
    for (size_t i = parts.count; i--;) {
        struct entity *part = LIST_ADD(&walk->reader->arena, &walk->open);
        *part = parts.items[i];
        part->is_attached &= part->display < AS_SMIME || !is_empty(kind); /* or else it is the message as a whole */
        part->is_attached |= entity->is_attached;
        part->is_doubtful |= entity->is_doubtful || is_hidden || i >= n_inner ||
                             ((is_alternative || has_root) && i != shown);
    }
}

static void read_entity(struct walk *walk, struct entity entity) {
    struct reader *reader = walk->reader;
    bool is_message = entity.display == AS_MESSAGE;
    span_list inner = {0}, margins = {0};
    size_t size = size_of(entity.body);
    if ((entity.display == AS_MULTIPART || is_message) && size > walk->search_left)
        reader->message.truncations |= TRUNCATED_PARTS;
    else if (entity.display == AS_MULTIPART) {
        walk->search_left -= size;
        inner = find_parts(walk, &entity, &margins);
    } else if (entity.display >= AS_PDF && walk->n_documents++ >= MAX_DOCUMENTS)
        reader->message.truncations |= truncation_of(entity.display);
    else if (is_message || entity.display >= AS_PDF) {
        walk->search_left -= is_message ? size : 0;
        span body = inner_entity(walk, &entity);
        entity.body = is_message ? body : entity.body;
        if (is_message || !is_empty(body))
            *LIST_ADD(&reader->arena, &inner) = body;
    }
    if (entity.display == AS_MULTIPART && !inner.count) { /* mail readers show a multipart without a boundary as text */
        entity.content_type = LITERAL("text/plain");
        entity.display = AS_TEXT;
    }
    if (is_message)
        entity.content_type = LITERAL("message/rfc822");
    if (is_text(entity.display) && size > walk->read_left)
        reader->message.truncations |= TRUNCATED_PARTS;
    else if (entity.display != AS_MULTIPART) {
        *LIST_ADD(&reader->arena, &walk->leaves) = entity;
        walk->read_left -= is_text(entity.display) ? size : 0;
    }
    open_parts(walk, &entity, inner, margins);
}

entity_list read_leaves(struct reader *reader, span message) {
    struct walk walk = {.reader = reader, .search_left = MAX_SEARCHES * size_of(message) + MIN_SEARCHED_BYTES,
                        .read_left = MAX_READINGS * size_of(message) + MAX_TEXT};
    open_parts(&walk, &(struct entity){0}, (span_list){&message, 1, 1}, (span_list){0});
    while (walk.open.count)
        read_entity(&walk, walk.open.items[--walk.open.count]);
    return walk.leaves;
}
