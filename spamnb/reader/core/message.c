#include "message.h"

#include "reader.h"
#include "transfer.h"
#include "words.h"

enum { MAX_PDF = 3, MAX_TNEF = 2, MAX_PDF_BYTES = 3 << 22 };

/* How many bytes are read of the next text. */
static size_t room_of(const struct message *message) {
    return message->bytes_left > MIN_TEXT ? message->bytes_left : MIN_TEXT;
}

static span two_spans(struct arena *arena, span one, span other) {
    struct writer writer = writer_open(arena, size_of(one) + size_of(other));
    put_span(&writer, one);
    put_span(&writer, other);
    return writer_close(&writer);
}

static span decode_transfer(struct reader *reader, span text, span encoding) {
    if (!is_same(encoding, LITERAL("x-uuencode")))
        return transfer_decode(&reader->arena, text, encoding);
    span octets;
    if (!reader->host->ask(reader->host, ASK_UUDECODE, text, (span){0}, &reader->arena, &octets))
        arena_fail(&reader->arena, FAILED_HOST);
    return octets;
}

/* The body of a part; of one that is far too long beginning and end. */
static span decoded_body(struct reader *reader, const struct leaf *leaf) {
    span body = leaf->body;
    size_t half = 3 * room_of(&reader->message) / 2 + 1; /* an encoding takes at most three bytes for one */
    if (size_of(body) <= 2 * half)
        return decode_transfer(reader, body, leaf->part.encoding);
    span last = span_between(body.end - half, body.end);
    const uint8_t *line = find_byte(last, '\n');
    last.at = line ? line + 1 : last.at;
    span first = decode_transfer(reader, span_of(body.at, half), leaf->part.encoding);
    return two_spans(&reader->arena, first, decode_transfer(reader, last, leaf->part.encoding));
}

/* A text without NUL and with LF line ends. */
static span shown_text(struct arena *arena, span text) {
    if (find_byte(text, 0)) {
        struct writer writer = writer_open(arena, size_of(text));
        for (; text.at < text.end; text.at++)
            if (*text.at)
                put_byte(&writer, *text.at);
        text = writer_close(&writer);
    }
    return with_line_feeds(arena, text);
}

/* Whether a uuencoded file may stand in a text: a line "begin 644 name". */
static bool may_hold_files(span text) {
    for (const uint8_t *at; (at = find(text, LITERAL("begin "))); text.at = at + 6)
        if (text.end - at > 9 && is_digit(at[6]) && is_digit(at[7]) && is_digit(at[8]))
            return true;
    return false;
}

static void take_opened(struct reader *reader, const opened_list *found, span_list *same);

static void add_octets(struct reader *reader, enum shown_as as, span octets, span charset, span_list *texts) {
    struct message *message = &reader->message;
    struct arena *arena = &reader->arena;
    size_t room = room_of(message);
    if (size_of(octets) > room) {
        message->cuts |= CUT_TEXT;
        octets = two_spans(arena, first_bytes(octets, room - room / 2), span_of(octets.end - room / 2, room / 2));
    }
    message->bytes_left -= size_of(octets) < message->bytes_left ? size_of(octets) : message->bytes_left;
    if (as == AS_HTML) {
        charset = is_empty(charset) ? declared_charset(octets) : charset;
        struct html_text found = read_html(reader, shown_text(arena, decode_text(reader, octets, charset)));
        *LIST_ADD(arena, texts) = shown_text(arena, found.shown); /* references may stand for controls */
        if (!is_empty(found.hidden))
            *LIST_ADD(arena, &message->hidden) = found.hidden;
        return;
    }
    span text = shown_text(arena, decode_text(reader, octets, charset));
    if (!may_hold_files(text)) {
        *LIST_ADD(arena, texts) = text;
        return;
    }
    opened_list found = {0};
    size_t left = message->parts.count < MAX_PARTS ? MAX_PARTS - message->parts.count : 0;
    if (!reader->host->open(reader->host, AS_TEXT, text, left, arena, &found))
        arena_fail(arena, FAILED_HOST);
    take_opened(reader, &found, texts);
}

/* What was found in an attachment, or in a text; same: where the rest of that text goes. */
static void take_opened(struct reader *reader, const opened_list *found, span_list *same) {
    struct message *message = &reader->message;
    for (size_t i = 0; i < found->count; i++) {
        const struct opened *opened = &found->items[i];
        switch (opened->role) {
        case OPENED_SAME_TEXT:
            *LIST_ADD(&reader->arena, same ? same : &message->extracted) = opened->octets;
            break;
        case OPENED_TEXT:
            add_octets(reader, opened->as, with_line_feeds(&reader->arena, opened->octets), opened->charset,
                       same ? &message->attached : &message->extracted);
            break;
        case OPENED_PART:
            *LIST_ADD(&reader->arena, &message->parts) = opened->part;
            break;
        case OPENED_LINK:
            url_add(&reader->arena, &message->links, opened->octets);
            break;
        case OPENED_CUT:
            message->cuts |= opened->as == AS_PDF ? CUT_PDF : CUT_TNEF;
            break;
        }
    }
}

/* A document of another kind. */
static void open_document(struct reader *reader, const struct leaf *leaf) {
    struct message *message = &reader->message;
    bool is_pdf = leaf->as == AS_PDF;
    if (++*(is_pdf ? &message->n_pdf : &message->n_tnef) > (is_pdf ? MAX_PDF : MAX_TNEF)) {
        message->cuts |= is_pdf ? CUT_PDF : CUT_TNEF;
        return;
    }
    span octets = is_pdf ? decode_transfer(reader, first_bytes(leaf->body, MAX_PDF_BYTES), leaf->part.encoding)
                         : decoded_body(reader, leaf);
    opened_list found = {0};
    if (!reader->host->open(reader->host, leaf->as, octets, MAX_PARTS, &reader->arena, &found))
        arena_fail(&reader->arena, FAILED_HOST);
    take_opened(reader, &found, NULL);
}

/* Of a message inside the message its subject and sender are text. */
static void read_inner_header(struct reader *reader, span body) {
    struct section section = read_section(reader, body);
    span values[2] = {{0}, {0}};
    static const char *const NAMES[2] = {"subject", "from"};
    for (size_t i = 0; i < section.fields.count; i++)
        for (size_t k = 0; k < 2; k++)
            if (!values[k].at && is_same_any_case(section.fields.items[i].name, span_of(NAMES[k], strlen(NAMES[k]))))
                values[k] = field_value(reader, section.fields.items[i].value, true);
    struct writer writer = writer_open(&reader->arena, 200);
    for (size_t k = 0; k < 2; k++) {
        put_span(&writer, values[k]);
        put_byte(&writer, '\n');
    }
    add_octets(reader, AS_TEXT, writer_close(&writer), LITERAL("utf-8"), &reader->message.texts);
}

static void read_leaf(struct reader *reader, const struct leaf *leaf) {
    struct message *message = &reader->message;
    *LIST_ADD(&reader->arena, &message->parts) = leaf->part;
    switch (leaf->as) {
    case AS_NOTHING: case AS_SMIME: case AS_MULTIPART:
        break;
    case AS_MESSAGE:
        read_inner_header(reader, leaf->body);
        break;
    case AS_PDF: case AS_TNEF:
        open_document(reader, leaf);
        break;
    case AS_TEXT: case AS_REPORT: case AS_HTML: {
        bool is_attached = is_same(leaf->part.disposition, LITERAL("attachment"));
        add_octets(reader, leaf->as, decoded_body(reader, leaf), leaf->part.charset,
                   is_attached ? &message->attached : &message->texts);
    }
    }
}

/* 16 bytes that are the same however the message is stored: without the fields that mailboxes add. */
static void make_digest(struct reader *reader) {
    struct message *message = &reader->message;
    struct digest_state state;
    span body = span_between(message->section.body, message->raw.end);
    while (!is_empty(body) && body.end[-1] == '\n')
        body.end--;
    digest_begin(&state);
    digest_add(&state, lasting_lines(reader, &message->section));
    digest_add(&state, LITERAL("\n\n"));
    digest_add(&state, body);
    digest_end(&state, message->digest);
}

static void make_row(struct reader *reader) {
    struct message *message = &reader->message;
    const span_list *lists[] = {&message->texts, &message->attached, &message->extracted};
    struct place place = {LITERAL(""), WORD_PARTS};
    span_list all = {0};
    for (size_t l = 0; l < COUNT_OF(lists); l++)
        for (size_t i = 0; i < lists[l]->count; i++)
            *LIST_ADD(&reader->arena, &all) = lists[l]->items[i];
    add_texts(reader, &place, &all, LITERAL(""));
    if (!reader->options.body_only)
        add_evidence(reader);
}

enum failure read_message(struct reader *reader, span raw, bool identify, bool with_tokens) {
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
    span body = message->raw;
    body.at = skip_envelope(body);
    message->section = read_section(reader, body);
    leaf_list leaves = read_leaves(reader, &message->section, body);
    for (size_t i = 0; i < leaves.count; i++)
        read_leaf(reader, &leaves.items[i]);
    if (identify)
        make_digest(reader);
    if (with_tokens)
        make_row(reader);
    for (size_t i = 0; !with_tokens && i < message->section.fields.count; i++)
        *LIST_ADD(arena, &message->values) = field_value(reader, message->section.fields.items[i].value, true);
    return FAILED_NOT;
}
