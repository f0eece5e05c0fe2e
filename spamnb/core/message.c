/* A message: raw bytes -> a row of tokens, or the texts of its parts. */
#include "reader.h"

/* Bytes of memory that any message may take, besides eight times its size; ordinary mail: 4 MB; the worst message of
 * tests/reader/hostile.py: 126 MB. */
static const size_t MIN_ARENA = (size_t)1 << 28;

enum {
    MIN_BASE64_LINE = 40, MIN_BASE64_RUN = 80, /* bytes of base64 in a text: of its lines but the last, and of all lines */
};

/* Adds a plain or a doubtful text. If the text is too long, adds only its beginning and its end. */
static void add_text(struct reader *reader, span text, bool is_doubtful) {
    struct message *message = &reader->message;
    size_t *left = &message->bytes_left[is_doubtful], room = *left > MIN_TEXT ? *left : MIN_TEXT;
    text = convert_line_ends(&reader->arena, text); /* "&#13;" in HTML makes a CR */
    if (size_of(text) > room) {
        message->truncations |= TRUNCATED_TEXT;
        text = drop_middle(&reader->arena, text, room, '\n');
    }
    *left -= size_of(text) < *left ? size_of(text) : *left;
    *LIST_ADD(&reader->arena, is_doubtful ? &message->doubtful : &message->texts) = text;
}

static void add_page(struct reader *reader, span html, bool is_doubtful) {
    struct arena *arena = &reader->arena;
    struct html_text page = read_html(reader, convert_line_ends(arena, remove_all(arena, html, LITERAL("\0"))), is_doubtful);
    add_text(reader, page.plain, is_doubtful);
    if (is_empty(page.doubtful))
        return;
    add_text(reader, page.doubtful, true);
    reader->message.has_doubtful_page = true;
}

/* Adds the subject and the sender of a message inside the message as a text. */
static void read_inner_header(struct reader *reader, span body, bool is_doubtful) {
    struct section section = read_section(reader, body);
    span subject = value_of(reader, &section, LITERAL("subject"), true);
    span sender = value_of(reader, &section, LITERAL("from"), true);
    add_text(reader, concatenate(&reader->arena, concatenate(&reader->arena, subject, LITERAL("\n")), sender), is_doubtful);
}

/* Returns the text of a leaf without formatting, and with folded lines joined. RFC 3676 (DelSp), calendars and vCards
 * fold lines. */
static span remove_formatting(struct reader *reader, const struct entity *leaf, span text) {
    struct arena *arena = &reader->arena;
    if (leaf->display == AS_ENRICHED)
        return remove_enrichment(arena, text);
    if (leaf->deletes_spaces)
        return remove_all(arena, text, LITERAL(" \n"));
    if (!is_one_of(leaf->content_type, "text/calendar application/ics text/vcard text/x-vcard text/directory"))
        return text;
    return remove_all(arena, remove_all(arena, text, LITERAL("\n ")), LITERAL("\n\t"));
}

/* Returns whether a line has a letter or a digit. */
static bool has_words(struct reader *reader, span line) {
    while (!is_empty(line)) {
        uint32_t point = next_point(&line);
        if (point < 0x80 ? is_letter((uint8_t)point) || is_digit((uint8_t)point)
                         : !(character_of(reader, point)->flags & (IS_PUNCTUATION | IS_INVISIBLE | IS_SPACE)))
            return true;
    }
    return false;
}

/* Returns the text after MAX_BREAKS lines without words, which people may not see. */
static span find_gap(struct reader *reader, span text) {
    size_t n_blank = 0;
    for (span rest = text, line; next_line(&rest, &line);) {
        bool is_blank_line = !has_words(reader, line);
        if (!is_blank_line && n_blank >= MAX_BREAKS)
            return span_between(line.at, text.end);
        n_blank = is_blank_line ? n_blank + 1 : 0;
    }
    return span_of(text.end, 0);
}

static bool is_base64(span line) {
    for (const uint8_t *at = line.at; at < line.end; at++)
        if (!is_letter(*at) && !is_digit(*at) && !find_byte(LITERAL("+/="), *at))
            return false;
    return !is_empty(line);
}

/* Adds the texts that lines of a text are in base64, as doubtful texts. A program may decode them if the header of their
 * part was damaged. */
static void read_base64_runs(struct reader *reader, span text) {
    span line;
    while (!is_empty(text)) {
        span run = span_of(text.at, 0);
        bool is_long = true;
        while (is_long && next_line(&text, &line)) {
            is_long = size_of(line) >= MIN_BASE64_LINE;
            if (!(is_long || !is_empty(run)) || !is_base64(line)) /* only the last line of a run is short */
                break;
            run.end = line.end;
        }
        if (size_of(run) < MIN_BASE64_RUN)
            continue;
        struct writer writer = writer_open(&reader->arena, size_of(run));
        put_base64(&writer, run);
        span octets = writer_close(&writer);
        if (valid_utf8_size(octets) == size_of(octets) && !find_byte(octets, '\0'))
            add_text(reader, octets, true);
    }
}

static void read_leaf(struct reader *reader, const struct entity *leaf) {
    struct arena *arena = &reader->arena;
    if (leaf->display == AS_MESSAGE)
        read_inner_header(reader, leaf->body, leaf->is_doubtful || leaf->is_attached);
    if (!is_text(leaf->display))
        return;
    span rest, octets = decode_transfer(reader, leaf->body, leaf->encoding, &rest);
    bool is_html = leaf->display == AS_HTML, is_rtf = leaf->display == AS_RTF;
    span charset = is_html && is_unnamed(leaf->charset) ? needed_charset(octets) : leaf->charset;
    span text = is_rtf ? remove_rtf(reader, octets, charset) : decode_text(reader, octets, charset);
    bool is_doubtful = leaf->is_doubtful || leaf->is_attached || is_empty(leaf->content_type);
    rest = strip_any(rest, "=\n ");
    if (!is_empty(rest)) {
        add_text(reader, decode_text(reader, rest, LITERAL("")), true);
        read_base64_runs(reader, rest); /* some mail readers decode what follows the padding, too */
    }
    if (!is_html) {
        text = remove_formatting(reader, leaf, convert_line_ends(arena, text));
        span below = find_gap(reader, text);
        add_text(reader, span_between(text.at, below.at), is_doubtful);
        if (!is_doubtful)
            find_links(reader, text);
        if (!is_empty(below))
            add_text(reader, below, true);
        read_base64_runs(reader, text);
        return;
    }
    span_list *frames = &reader->message.frames;
    frames->count = 0;
    add_page(reader, text, is_doubtful);
    for (size_t i = 0; i < frames->count; i++)
        add_page(reader, frames->items[i], true);
}

/* Returns the fields of a section, except the fields that mailboxes add, without line feeds at both ends. */
static span stable_fields(struct reader *reader, const struct section *section) {
    struct writer writer = writer_open(&reader->arena, 4096);
    for (size_t i = 0; i < section->fields.count; i++) {
        const struct field *field = &section->fields.items[i];
        if (header_rule_of(&reader->rules, field->name)->method == METHOD_VOLATILE)
            continue;
        put_span(&writer, span_between(field->name.at, field->value.end));
        put_byte(&writer, '\n');
    }
    return strip_any(writer_close(&writer), "\n");
}

/* Computes the digest of a message. It does not depend on the fields and the line feeds that a mailbox adds. */
static void compute_digest(struct reader *reader, uint8_t digest[DIGEST]) {
    const struct message *message = &reader->message;
    span fields = stable_fields(reader, &message->section);
    span body = span_between(message->section.first_stray, message->raw.end);
    while (!is_empty(body) && body.end[-1] == '\n')
        body.end--;
    digest_of(concatenate(&reader->arena, concatenate(&reader->arena, fields, LITERAL("\n\n")), body), digest);
}

/* Returns whether a text has a date of numbers, such as 2002-08-22 or 22 08 2002, or the name of a month: in English, or
 * else any name. */
static bool has_month(span text, bool is_english) {
    static const char *const MONTHS[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                         "jul", "aug", "sep", "oct", "nov", "dec"};
    for (size_t i = 0; i < COUNT_OF(MONTHS); i++)
        if (find_any_case(text, span_of_text(MONTHS[i])))
            return true;
    for (; size_of(text) > 4; text.at++) {
        bool is_date = is_digit(text.at[0]) && find_byte(LITERAL("-/. "), text.at[1]) && is_digit(text.at[2]);
        if (is_date && (text.at[3] == text.at[1] || text.at[4] == text.at[1]))
            return true;
        if (!is_english && is_letter(text.at[0]) && is_letter(text.at[1]))
            return true;
    }
    return false;
}

/* Returns the date in a field, without comments; an empty span if the field has none, with a month and a time. The date
 * of a Received field follows its last semicolon, and servers write its month in English. */
static span date_of(struct reader *reader, const struct field *field, bool is_received) {
    span value = remove_comments(&reader->arena, field_value(reader, field, true));
    while (!is_empty(value) && (value.end[-1] == ';' || value.end[-1] == ' '))
        value.end--;
    const uint8_t *semicolon = find_last(value, ';');
    if (is_received)
        value.at = semicolon ? semicolon + 1 : value.end;
    bool has_time = find_byte(value, ':') || find_byte(value, '.');
    return has_time && has_month(value, is_received) ? strip(value) : (span){0};
}

/* Copies the date of the topmost Received field that has one, or else of the Date field, with "?" for each byte that is
 * not ASCII. */
static void copy_date(struct reader *reader, uint8_t date[DATE]) {
    const struct section *section = &reader->message.section;
    span value = {0};
    for (int received = 1; received >= 0; received--)
        for (size_t i = 0; i < section->fields.count && is_empty(value); i++)
            if (is_same_any_case(section->fields.items[i].name, received ? LITERAL("received") : LITERAL("date")))
                value = date_of(reader, &section->fields.items[i], received);
    value = first_bytes(value, DATE - 1);
    for (size_t i = 0; i < size_of(value); i++)
        date[i] = value.at[i] && value.at[i] < 128 ? value.at[i] : '?';
}

/* Returns the hash of the mailing list, which List-Id names in angle brackets, or else of the domain after the last "@"
 * of From. Returns 0 if the message has neither. */
static int64_t find_sender(struct reader *reader) {
    const struct section *section = &reader->message.section;
    span list = value_of(reader, section, LITERAL("list-id"), false), name;
    span from = value_of(reader, section, LITERAL("from"), false);
    const uint8_t *bracket = find_last(list, '<'), *at = find_last(from, '@');
    if (!is_empty(strip(list)))
        name = bracket ? before_first(span_between(bracket + 1, list.end), '>') : list;
    else
        name = before_first(before_first(span_between(at ? at + 1 : from.end, from.end), '>'), ' ');
    name = copy_lower(&reader->arena, strip(name));
    return is_empty(name) ? 0 : (int64_t)file_hash(name);
}

static void list_files(struct reader *reader) {
    struct message *message = &reader->message;
    for (size_t i = 0; i < message->leaves.count; i++) {
        const struct entity *leaf = &message->leaves.items[i];
        if (is_empty(leaf->filename))
            continue;
        *LIST_ADD(&reader->arena, &message->files) = leaf->filename;
        *LIST_ADD(&reader->arena, &message->files) = leaf->content_type;
    }
}

static void read_body(struct reader *reader, span text) {
    struct message *message = &reader->message;
    message->leaves = read_leaves(reader, text);
    list_files(reader);
    for (int rank = 0; rank < 3; rank++) { /* leaves that are shown, then attachments, then doubtful ones */
        message->n_joined = message->doubtful.count;
        for (size_t i = 0; i < message->leaves.count; i++) {
            const struct entity *leaf = &message->leaves.items[i];
            if (rank == (leaf->is_doubtful ? 2 : leaf->is_attached))
                read_leaf(reader, leaf);
        }
    }
}

/* Counts the tokens of the message. Doubtful text comes last, so that the bounds leave plain tokens alone. */
static void count_tokens(struct reader *reader, bool wants_doubtful) {
    add_texts(reader, &reader->message.texts, LITERAL(""));
    if (!reader->options.body_only) {
        add_evidence(reader);
        add_truncations(reader);
    }
    if (!row_end_plain(reader->vocabulary))
        arena_fail(&reader->arena, FAILED_MEMORY);
    if (!wants_doubtful)
        return;
    if (!reader->options.body_only)
        add_links(reader, true);
    add_doubtful_texts(reader, &reader->message.doubtful, reader->message.n_joined);
}

enum failure read_message(struct reader *reader, span raw, unsigned wants) {
    struct arena *arena = &reader->arena;
    struct message *message = &reader->message;
    enum failure failure = (enum failure)setjmp(arena->failure);
    if (failure)
        return failure;
    if (size_of(raw) > SIZE_MAX / 64)
        return FAILED_MEMORY;
    arena_begin(arena, 8 * size_of(raw) + MIN_ARENA);
    *message = (struct message){.bytes_left = {MAX_TEXT, MAX_TEXT}, .questions_left = MAX_QUESTIONS, .tokens_left = MAX_TOKENS};
    message->raw = convert_line_ends(arena, raw);
    span text = span_between(skip_envelope(message->raw), message->raw.end);
    message->section = read_section(reader, text);
    if (wants & WANT_BODY)
        read_body(reader, text);
    if (wants & WANT_DIGEST)
        compute_digest(reader, message->digest);
    if (wants & WANT_DATE)
        copy_date(reader, message->date);
    if (wants & WANT_SENDER)
        message->sender = find_sender(reader);
    if (reader->vocabulary)
        count_tokens(reader, wants & WANT_DOUBTFUL);
    for (size_t i = 0; (wants & WANT_FIELDS) && i < message->section.fields.count; i++) {
        const struct field *field = &message->section.fields.items[i];
        *LIST_ADD(arena, &message->headers) = field->name;
        *LIST_ADD(arena, &message->headers) = field_value(reader, field, true);
    }
    for (int doubtful = 0; doubtful < 2; doubtful++)
        for (size_t i = 0; i < message->links[doubtful].count; i++)
            *LIST_ADD(arena, &message->urls) = truncate_text(message->links[doubtful].items[i], MAX_URL);
    return FAILED_NOT;
}
