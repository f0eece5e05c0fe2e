#include "message.h"

#include "reader.h"
#include "transfer.h"
#include "words.h"

enum { MAX_DOCUMENTS = 3, MAX_PDF_BYTES = 3 << 22 };

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
    return is_same(encoding, LITERAL("x-uuencode")) ? ask_host(reader, ASK_UUDECODE, text, (span){0})
                                                    : transfer_decode(&reader->arena, text, encoding);
}

/* The body of a part; of one that is far too long beginning and end. */
static span decoded_body(struct reader *reader, const struct leaf *leaf) {
    span body = leaf->body, encoding = leaf->part.encoding;
    size_t half = 3 * room_of(&reader->message) / 2 + 1; /* an encoding takes at most three bytes for one */
    if (size_of(body) <= 2 * half)
        return decode_transfer(reader, body, encoding);
    span last = span_between(body.end - half, body.end);
    const uint8_t *line_end = find_byte(last, '\n');
    last.at = line_end ? line_end + 1 : last.at;
    span first = decode_transfer(reader, span_of(body.at, half), encoding);
    return two_spans(&reader->arena, first, decode_transfer(reader, last, encoding));
}

/* A text without NUL and with LF line ends. */
static span shown_text(struct arena *arena, span text) { return with_line_feeds(arena, without_byte(arena, text, 0)); }

/* Whether a uuencoded file may stand in a text: a line "begin 644 name". */
static bool may_hold_files(span text) {
    for (const uint8_t *at; (at = find(text, LITERAL("begin "))); text.at = at + 6)
        if (text.end - at > 9 && is_digit(at[6]) && is_digit(at[7]) && is_digit(at[8]))
            return true;
    return false;
}

static void open_octets(struct reader *reader, enum shown_as as, span octets, span_list *same);

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
            *LIST_ADD(arena, &message->hidden) = shown_text(arena, found.hidden);
        return;
    }
    span text = shown_text(arena, decode_text(reader, octets, charset));
    if (may_hold_files(text))
        open_octets(reader, AS_TEXT, text, texts);
    else
        *LIST_ADD(arena, texts) = text;
}

/* What the program finds in an attachment, or in a text that has files in it; same: where the rest of that text goes. */
static void open_octets(struct reader *reader, enum shown_as as, span octets, span_list *same) {
    struct message *message = &reader->message;
    opened_list found = {0};
    size_t left = message->parts.count < MAX_PARTS ? MAX_PARTS - message->parts.count : 0;
    if (!reader->host->open(reader->host, as, octets, left, &reader->arena, &found))
        arena_fail(&reader->arena, FAILED_HOST);
    for (size_t i = 0; i < found.count; i++) {
        const struct opened *opened = &found.items[i];
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
    if (message->n_documents++ == MAX_DOCUMENTS) {
        message->n_documents--;
        message->cuts |= is_pdf ? CUT_PDF : CUT_TNEF;
        return;
    }
    span octets = is_pdf ? decode_transfer(reader, first_bytes(leaf->body, MAX_PDF_BYTES), leaf->part.encoding)
                         : decoded_body(reader, leaf);
    open_octets(reader, leaf->as, octets, NULL);
}

/* Of a message inside the message its subject and sender are text. */
static void read_inner_header(struct reader *reader, span body) {
    struct section section = read_section(reader, body);
    span subject = value_of(reader, &section, LITERAL("subject"), true);
    span sender = value_of(reader, &section, LITERAL("from"), true);
    struct writer writer = writer_open(&reader->arena, 200);
    put_span(&writer, subject);
    put_byte(&writer, '\n');
    put_span(&writer, sender);
    put_byte(&writer, '\n');
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

/* 16 bytes that are the same however the message is stored, or, without_trace, wherever on its way it is. */
static void make_digest(struct reader *reader, bool without_trace, uint8_t digest[DIGEST]) {
    struct message *message = &reader->message;
    struct digest_state state;
    span body = span_between(message->section.body, message->raw.end);
    while (!is_empty(body) && body.end[-1] == '\n')
        body.end--;
    digest_begin(&state);
    digest_add(&state, lasting_lines(reader, &message->section, without_trace));
    digest_add(&state, LITERAL("\n\n"));
    digest_add(&state, body);
    digest_end(&state, digest);
}

static void read_body(struct reader *reader, span text) {
    struct message *message = &reader->message;
    leaf_list leaves = read_leaves(reader, &message->section, text);
    for (size_t i = 0; i < leaves.count; i++)
        read_leaf(reader, &leaves.items[i]);
    const span_list *lists[] = {&message->texts, &message->attached, &message->extracted};
    for (size_t l = 0; l < COUNT_OF(lists); l++)
        for (size_t i = 0; i < lists[l]->count; i++)
            *LIST_ADD(&reader->arena, &message->all_texts) = lists[l]->items[i];
}

static void make_row(struct reader *reader) {
    struct message *message = &reader->message;
    struct place place = {LITERAL(""), WORD_PARTS};
    add_texts(reader, &place, &message->all_texts, LITERAL(""));
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
        make_digest(reader, false, message->digest);
    if (wants & WANT_IDENTITY)
        make_digest(reader, true, message->identity);
    if ((wants & WANT_ROW) == WANT_ROW)
        make_row(reader);
    for (size_t i = 0; (wants & WANT_FIELDS) && i < message->section.fields.count; i++)
        *LIST_ADD(arena, &message->values) = field_value(reader, message->section.fields.items[i].value, true);
    return FAILED_NOT;
}
