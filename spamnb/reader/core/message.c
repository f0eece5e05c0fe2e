/* A message: raw bytes -> a row of tokens, and spans of what people ask for. */
#include "reader.h"

/* A text without NUL and with LF line ends. */
static span shown_text(struct arena *arena, span text) { return with_line_feeds(arena, without_byte(arena, text, 0)); }

/* Reads a text; of one that is far too long beginning and end. */
static void add_octets(struct reader *reader, enum shown_as as, span octets, span charset) {
    struct message *message = &reader->message;
    struct arena *arena = &reader->arena;
    size_t room = message->bytes_left > MIN_TEXT ? message->bytes_left : MIN_TEXT;
    if (size_of(octets) > room) {
        message->cuts |= CUT_TEXT;
        octets = two_spans(arena, first_bytes(octets, room - room / 2), span_of(octets.end - room / 2, room / 2));
    }
    message->bytes_left -= size_of(octets) < message->bytes_left ? size_of(octets) : message->bytes_left;
    if (as == AS_HTML) {
        charset = is_empty(charset) ? declared_charset(octets) : charset;
        struct html_text found = read_html(reader, shown_text(arena, decode_text(reader, octets, charset)));
        *LIST_ADD(arena, &message->texts) = shown_text(arena, found.shown); /* references may stand for controls */
        if (!is_empty(found.hidden))
            *LIST_ADD(arena, &message->hidden) = shown_text(arena, found.hidden);
        return;
    }
    *LIST_ADD(arena, &message->texts) = shown_text(arena, decode_text(reader, octets, charset));
}

/* Of a message inside the message its subject and sender are text. */
static void read_inner_header(struct reader *reader, span body) {
    struct section section = read_section(reader, body);
    span subject = value_of(reader, &section, LITERAL("subject"), true);
    span sender = value_of(reader, &section, LITERAL("from"), true);
    span text = two_spans(&reader->arena, two_spans(&reader->arena, subject, LITERAL("\n")), sender);
    add_octets(reader, AS_TEXT, text, LITERAL("utf-8"));
}

/* Whether a reader must open a leaf to see it. */
static bool is_attached(const struct entity *leaf) {
    return leaf->as != AS_MESSAGE && is_same(leaf->disposition, LITERAL("attachment"));
}

static void read_leaf(struct reader *reader, const struct entity *leaf) {
    if (leaf->as == AS_MESSAGE)
        read_inner_header(reader, leaf->body);
    else if (leaf->as == AS_TEXT || leaf->as == AS_REPORT || leaf->as == AS_HTML)
        add_octets(reader, leaf->as, decode_transfer(reader, leaf->body, leaf->encoding), leaf->charset);
}

/* 16 bytes that are the same however the message is stored. */
static void make_digest(struct reader *reader, uint8_t digest[DIGEST]) {
    const struct message *message = &reader->message;
    span fields = lasting_fields(reader, &message->section);
    span body = span_between(message->section.body, message->raw.end);
    while (!is_empty(body) && body.end[-1] == '\n')
        body.end--;
    digest_of(two_spans(&reader->arena, two_spans(&reader->arena, fields, LITERAL("\n\n")), body), digest);
}

/* The date in the topmost Received field; in the Date field where there is none. Only ASCII is of use. */
static void copy_date(struct reader *reader, uint8_t date[DATE]) {
    const struct section *section = &reader->message.section;
    span value = value_of(reader, section, LITERAL("received"), false);
    const uint8_t *semicolon = find_last(value, ';');
    value = value.at ? span_between(semicolon ? semicolon + 1 : value.at, value.end)
                     : value_of(reader, section, LITERAL("date"), false);
    value = first_bytes(strip(value), DATE - 1);
    for (size_t i = 0; i < size_of(value); i++)
        date[i] = value.at[i] && value.at[i] < 128 ? value.at[i] : '?';
}

static void read_body(struct reader *reader, span text) {
    struct message *message = &reader->message;
    message->leaves = read_leaves(reader, &message->section, text);
    for (int attached = 0; attached < 2; attached++)
        for (size_t i = 0; i < message->leaves.count; i++)
            if (is_attached(&message->leaves.items[i]) == attached)
                read_leaf(reader, &message->leaves.items[i]);
}

static void make_row(struct reader *reader) {
    add_texts(reader, &reader->message.texts, LITERAL(""));
    if (!reader->options.body_only)
        add_evidence(reader);
}

enum failure read_message(struct reader *reader, span raw, unsigned wants) {
    struct arena *arena = &reader->arena;
    struct message *message = &reader->message;
    enum failure failed = (enum failure)setjmp(arena->failed);
    if (failed)
        return failed;
    if (size_of(raw) > SIZE_MAX / 64)
        return FAILED_MEMORY;
    arena_begin(arena, 8 * size_of(raw) + ((size_t)1 << 28));
    *message = (struct message){.bytes_left = MAX_TEXT};
    message->raw = with_line_feeds(arena, raw);
    span text = span_between(skip_envelope(message->raw), message->raw.end);
    message->section = read_section(reader, text);
    if (wants & WANT_BODY)
        read_body(reader, text);
    if (wants & WANT_DIGEST)
        make_digest(reader, message->digest);
    if (wants & WANT_DATE)
        copy_date(reader, message->date);
    if (reader->vocabulary)
        make_row(reader);
    for (size_t i = 0; (wants & WANT_FIELDS) && i < message->section.fields.count; i++) {
        const struct field *field = &message->section.fields.items[i];
        *LIST_ADD(arena, &message->headers) = field->name;
        *LIST_ADD(arena, &message->headers) = field_value(reader, field->value, true);
    }
    return FAILED_NOT;
}
