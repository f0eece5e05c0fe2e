#include "evidence.h"

#include "links.h"
#include "reader.h"
#include "tags.h"
#include "words.h"

enum {
    MAX_FIELD_NAME = 40,  /* bytes of a name in tokens */
    MAX_VALUE = 2000,     /* bytes of a value whose words are read */
    MAX_READ_URLS = 200,  /* of each kind: a thousand decoys do not hide the one behind them */
    MAX_SHAPE = 60, MAX_LOCAL_PART = 30, MAX_SHOWN_URL = 200,
};

const char *const TOKEN_KINDS[] = {
    "attachment", "capitals", "caps", "charset", "cut", "date", "encoding", "from", "header", "hidden", "html", "length",
    "line", "long", "message-id", "p", "part", "received", "subject", "url",
};
const size_t N_TOKEN_KINDS = COUNT_OF(TOKEN_KINDS);

/* ---- Rules ---- */

static size_t rule_slot(const struct rule_table *table, span lower) {
    size_t slot = file_hash(lower) >> 40 & (N_RULE_SLOTS - 1);
    while (table->slots[slot] && !is_same(table->rules[table->slots[slot] - 1].name, lower))
        slot = (slot + 1) & (N_RULE_SLOTS - 1);
    return slot;
}

bool rules_begin(struct rule_table *table) {
    if (table->n_rules > N_RULE_SLOTS / 2)
        return false;
    memset(table->slots, 0, sizeof table->slots);
    for (size_t i = 0; i < table->n_rules; i++)
        if (!table->rules[i].is_beginning)
            table->slots[rule_slot(table, table->rules[i].name)] = (uint16_t)(i + 1);
    return true;
}

const struct header_rule *header_rule_of(const struct rule_table *table, span name) {
    uint8_t lower[100];
    name = first_bytes(name, sizeof lower);
    lower[0] = 0;
    for (size_t i = 0; i < size_of(name); i++)
        lower[i] = to_lower(name.at[i]);
    name = span_of(lower, size_of(name));
    size_t slot = rule_slot(table, name);
    if (table->slots[slot])
        return &table->rules[table->slots[slot] - 1];
    for (size_t i = 0; i < table->n_rules; i++)
        if (table->rules[i].is_beginning && *table->rules[i].name.at == lower[0] &&
            starts_with(name, table->rules[i].name))
            return &table->rules[i];
    return &table->other;
}

uint8_t group_of(const struct group_table *table, span token) {
    if (find_byte(token, ' '))
        return table->of_pairs;
    const uint8_t *colon = find_byte(token, ':');
    if (!colon || colon == token.at || !is_letter(*token.at))
        return table->of_text;
    span prefix = span_between(token.at, colon);
    for (size_t i = 0; i < table->n_kinds; i++)
        if (is_same(table->kinds[i].prefix, prefix))
            return table->kinds[i].group;
    return table->of_headers;
}

/* ---- Header fields ---- */

/* A value without the date behind it, which tells when mail was collected. */
static span without_date(span value) {
    const uint8_t *semicolon = find_last(value, ';');
    return semicolon && semicolon > value.at ? span_between(value.at, semicolon) : value;
}

/* A signature field without what differs in every message: the signature, the body's hash and the times. */
static span without_signature(struct arena *arena, span value) {
    struct writer writer = writer_open(arena, size_of(value));
    bool in_word = false;
    while (value.at < value.end) {
        uint8_t c = *value.at;
        const uint8_t *at = value.at + 1;
        at += c == 'b' && at < value.end && *at == 'h';
        while (at < value.end && is_space(*at))
            at++;
        if (!in_word && (c == 'b' || c == 't' || c == 'x') && at < value.end && *at == '=') {
            value.at = before_first(value, ';').end;
            in_word = false;
            continue;
        }
        in_word = is_letter(c) || is_digit(c) || c == '_' || c >= 0x80;
        put_byte(&writer, c);
        value.at++;
    }
    return writer_close(&writer);
}

/* How a mail program makes its ids: runs of letters and of digits as one character each, "0.a0a0-a". */
static span id_shape(struct reader *reader, span text) {
    struct writer writer = writer_open(&reader->arena, 4 * MAX_SHAPE + 1);
    put_byte(&writer, '#');
    uint32_t before = 0;
    for (int n = 0; n < MAX_SHAPE && !is_empty(text); n++) {
        const uint8_t *begin = text.at;
        uint32_t point = next_point(&text), kind = point;
        uint16_t flags = point < 128 ? 0 : character_of(reader, point)->flags;
        if (point < 128 ? is_letter((uint8_t)point) : flags & IS_ALPHA)
            kind = 'a';
        else if (point < 128 ? is_digit((uint8_t)point) : flags & IS_DIGIT)
            kind = '0';
        if (kind != before) {
            if (kind == point)
                put_span(&writer, span_between(begin, text.at));
            else
                put_byte(&writer, (uint8_t)kind);
        }
        before = kind;
    }
    return writer_close(&writer);
}

/* The shape of the sender's local part tells a person's address from a machine's. */
static void add_sender(struct reader *reader, span value) {
    const uint8_t *open = find_last(value, '<');
    span local = before_first(open ? span_between(open + 1, value.end) : value, '@');
    add_token(reader, LITERAL("from:"), id_shape(reader, first_characters(local, MAX_LOCAL_PART)));
}

/* The time zone, and the shape of the date, which differs between mail programs. */
static void add_date(struct reader *reader, span value) {
    span zone = LITERAL("no-zone");
    for (const uint8_t *at = value.at; value.end - at >= 5; at++) {
        bool fits = *at == '+' || *at == '-';
        for (int i = 1; i <= 4 && fits; i++)
            fits = is_digit(at[i]);
        uint8_t next = value.end - at > 5 ? at[5] : ' ';
        if (fits && !(is_letter(next) || is_digit(next) || next == '_')) {
            zone = span_of(at, 5);
            break;
        }
    }
    add_token(reader, LITERAL("date:"), zone);
    uint8_t shape[MAX_SHAPE + 1] = {'#'};
    value = first_characters(value, MAX_SHAPE);
    for (size_t i = 0; i < size_of(value); i++) {
        uint8_t c = value.at[i];
        shape[i + 1] = is_digit(c) ? '0' : is_blank(c) ? '_' : is_letter(c) ? 'a' : c;
    }
    add_token(reader, LITERAL("date:"), span_of(shape, size_of(value) + 1));
}

/* The host that made the id, and the shape of the rest, which tells the mail program. */
static void add_message_id(struct reader *reader, span value) {
    value = strip_any(value, "<> ");
    const uint8_t *at = find_last(value, '@');
    span left = at ? span_between(value.at, at) : span_between(value.at, value.at);
    add_host(reader, LITERAL("message-id:"), at ? span_between(at + 1, value.end) : value, false);
    add_token(reader, LITERAL("message-id:"), id_shape(reader, left));
}

static void add_field(struct reader *reader, const struct field *field) {
    struct arena *arena = &reader->arena;
    const struct header_rule *rule = header_rule_of(reader->rules, field->name);
    if (rule->how == HOW_IGNORED)
        return;
    span name = lower_copy(arena, first_bytes(field->name, MAX_FIELD_NAME));
    add_token(reader, LITERAL("header:"), name);
    span value = first_characters(field_value(reader, field->value, true), MAX_VALUE), words = value;
    struct writer writer = writer_open(arena, MAX_FIELD_NAME + 1);
    put_span(&writer, is_empty(rule->prefix) ? name : rule->prefix);
    put_byte(&writer, ':');
    struct place place = {writer_close(&writer), WORD_WHOLE};
    if (rule->how == HOW_RECEIVED) {
        place.method = WORD_HOST;
        words = without_date(words);
    } else if (rule->how == HOW_TEXT)
        place.method = WORD_PARTS;
    else if (rule->how == HOW_SIGNATURE)
        words = without_signature(arena, words);
    if (rule->how != HOW_PRESENCE)
        add_words(reader, &place, words);
    if (rule->extra == EXTRA_SUBJECT) {
        /* The subject once more, as text: each place learns from the other. */
        struct place text = {LITERAL(""), WORD_PARTS};
        span_list texts = {0};
        *LIST_ADD(arena, &texts) = value;
        add_texts(reader, &text, &texts, LITERAL("subject:"));
    } else if (rule->extra == EXTRA_SENDER)
        add_sender(reader, value);
    else if (rule->extra == EXTRA_DATE)
        add_date(reader, value);
    else if (rule->extra == EXTRA_MESSAGE_ID)
        add_message_id(reader, value);
}

/* ---- Links ---- */

/* Spans that are there once. */
struct span_set {
    span *slots;
    size_t mask;
};

static struct span_set set_of(struct arena *arena, size_t most) {
    size_t n = 16;
    while (n < 2 * most)
        n *= 2;
    return (struct span_set){arena_take(arena, n, sizeof(span)), n - 1};
}

/* Whether a span is new; the set must have room. */
static bool set_add(struct reader *reader, struct span_set *set, span text) {
    size_t slot = siphash(reader->tables->secret, text) & set->mask;
    for (; set->slots[slot].at; slot = (slot + 1) & set->mask)
        if (is_same(set->slots[slot], text))
            return false;
    set->slots[slot] = text;
    return true;
}

struct link_tokens {
    struct span_set hosts;
    span_list found; /* hosts, in the order in which they were met; of URLs that lead to none the scheme and a colon */
    unsigned tricks;
};

static void note_host(struct reader *reader, struct link_tokens *tokens, span host) {
    if (!is_empty(host) && set_add(reader, &tokens->hosts, host))
        *LIST_ADD(&reader->arena, &tokens->found) = host;
}

/* Whether a URL is a plain name behind http, and nothing in it may hide another one; its host. Most are. */
static bool is_plain_url(span url, span *host) {
    if (!starts_with_any_case(url, LITERAL("http")))
        return false;
    url.at += 4;
    url.at += !is_empty(url) && (*url.at | 32) == 's';
    if (!starts_with(url, LITERAL("://")))
        return false;
    url.at += 3;
    *host = url;
    const uint8_t *label = url.at;
    while (url.at < url.end && (is_letter(*url.at) || is_digit(*url.at) || *url.at == '-' || *url.at == '.')) {
        if (*url.at == '.') {
            if (url.at == label)
                return false;
            label = url.at + 1;
        }
        url.at++;
    }
    host->end = url.at;
    if (label == url.at || !is_letter(*label))
        return false;
    if (url.at < url.end && *url.at != '/' && *url.at != '?' && *url.at != '#')
        return false;
    for (const uint8_t *at = url.at; at < url.end; at++)
        switch (*at) {
        case '%': case '\\':
            return false;
        case ':':
            if (at + 1 < url.end && at[1] == '/')
                return false;
            break;
        case '=':
            if (starts_with(span_between(at, url.end), LITERAL("=//")) ||
                starts_with_any_case(span_between(at, url.end), LITERAL("=www.")))
                return false;
            break;
        case '-':
            if (starts_with_any_case(span_between(at, url.end), LITERAL("-3a__")))
                return false;
            break;
        case '/':
            if (starts_with_any_case(span_between(at, url.end), LITERAL("/s/")))
                return false;
        }
    return true;
}

static void read_url(struct reader *reader, struct link_tokens *tokens, span url) {
    span host;
    if (is_plain_url(url, &host)) {
        note_host(reader, tokens, lower_copy(&reader->arena, host));
        return;
    }
    struct link link = read_link(reader, url);
    tokens->tricks |= link.tricks;
    if (is_empty(link.host)) { /* its scheme */
        struct writer writer = writer_open(&reader->arena, 16);
        span scheme = before_first(first_characters(url, 12), ':');
        for (; scheme.at < scheme.end; scheme.at++)
            put_byte(&writer, to_lower(*scheme.at));
        put_byte(&writer, ':');
        link.host = writer_close(&writer);
    }
    note_host(reader, tokens, link.host);
    for (size_t i = 0; i < link.n_targets; i++)
        note_host(reader, tokens, link.targets[i]);
}

/* The different URLs of one kind; of more than MAX_READ_URLS the first and the last half. */
static span_list read_urls_of(struct reader *reader, const struct url_list *list) {
    struct arena *arena = &reader->arena;
    size_t n = url_count(list);
    struct span_set seen = set_of(arena, n);
    span_list distinct = {0};
    for (size_t i = 0; i < n; i++)
        if (set_add(reader, &seen, is_empty(url_at(list, i)) ? LITERAL("") : url_at(list, i)))
            *LIST_ADD(arena, &distinct) = url_at(list, i);
    if (distinct.count <= MAX_READ_URLS)
        return distinct;
    reader->message.cuts |= CUT_LINKS;
    memmove(distinct.items + MAX_READ_URLS / 2, distinct.items + distinct.count - MAX_READ_URLS / 2,
            MAX_READ_URLS / 2 * sizeof *distinct.items);
    distinct.count = MAX_READ_URLS;
    return distinct;
}

static bool ends_url(struct reader *reader, span rest) {
    uint8_t c = *rest.at;
    if (c < 0x80)
        return c <= ' ' ? is_space(c) || c == '\v' || (c >= 28 && c <= 31) : c == '<' || c == '>' || c == '"' || c == '\'' || c == ')';
    return character_of(reader, next_point(&rest))->flags & IS_SPACE;
}

/* What a reader takes for a URL that begins there, less its scheme. */
static span shown_url(struct reader *reader, const uint8_t *begin, const uint8_t *end) {
    span rest = span_between(begin, end);
    for (int n = 0; n < MAX_SHOWN_URL && !is_empty(rest) && !ends_url(reader, rest); n++)
        next_point(&rest);
    return span_between(begin, rest.at);
}

static bool is_word_character(struct reader *reader, uint32_t point) {
    if (point < 128)
        return is_letter((uint8_t)point) || is_digit((uint8_t)point) || point == '_';
    return character_of(reader, point)->flags & IS_WORD_CHARACTER;
}

static void keep_shown_url(struct reader *reader, struct url_list *list, const char *scheme, span url) {
    struct arena *arena = &reader->arena;
    struct writer writer = writer_open(arena, size_of(url) + 12);
    put_span(&writer, span_of(scheme, strlen(scheme)));
    put_span(&writer, url);
    url_add(arena, list, writer_close(&writer));
}

/* The URLs that a reader sees in a text: behind http://, and from "www." on where it belongs to nothing else. */
static void find_shown_urls(struct reader *reader, struct url_list *list, span text) {
    const uint8_t *at = text.at;
    /* What most texts have none of is found by its rarest byte. */
    if (!find_byte(text, ':') && !find(text, LITERAL("ww.")) && !find(text, LITERAL("WW.")))
        return;
    for (; text.end - at > 4; at++) {
        static const bool BEGINS_URL[256] = {[':'] = true, ['w'] = true, ['W'] = true};
        if (!BEGINS_URL[*at])
            continue;
        span here = span_between(at, text.end), url;
        if (*at == ':' && (starts_with(here, LITERAL("://")) || starts_with(here, LITERAL(":\\\\")))) {
            span before = span_between(at - text.at > 5 ? at - 5 : text.at, at);
            bool is_http = (size_of(before) >= 4 && is_same_any_case(span_between(at - 4, at), LITERAL("http"))) ||
                           (size_of(before) == 5 && is_same_any_case(before, LITERAL("https")));
            url = shown_url(reader, at + 3, text.end);
            if (is_http && !is_empty(url)) {
                keep_shown_url(reader, list, "http://", url);
                at = url.end - 1;
            }
        } else if ((*at | 32) == 'w' && starts_with_any_case(here, LITERAL("www.")) && at[1] == at[2]) {
            uint32_t before = at > text.at ? last_point(span_between(text.at, at)) : ' ';
            if (is_word_character(reader, before) || (before < 128 && strchr(".@/\\=-", (int)before)))
                continue;
            url = shown_url(reader, at + 4, text.end);
            if (is_empty(url))
                continue;
            span first = url;
            uint32_t point = next_point(&first);
            if (point == '-' || is_word_character(reader, point)) {
                keep_shown_url(reader, list, "http://www.", url);
                at = url.end - 1;
            }
        }
    }
}

static void add_links(struct reader *reader) {
    struct message *message = &reader->message;
    const span_list *lists[] = {&message->texts, &message->attached, &message->extracted};
    LIST(span_list) kinds = {0};
    *LIST_ADD(&reader->arena, &kinds) = read_urls_of(reader, &message->links);
    *LIST_ADD(&reader->arena, &kinds) = read_urls_of(reader, &message->images);
    *LIST_ADD(&reader->arena, &kinds) = read_urls_of(reader, &message->forms);
    for (size_t l = 0; l < COUNT_OF(lists); l++)
        for (size_t i = 0; i < lists[l]->count; i++) {
            struct url_list shown = {0};
            find_shown_urls(reader, &shown, lists[l]->items[i]);
            if (shown.n_added)
                *LIST_ADD(&reader->arena, &kinds) = read_urls_of(reader, &shown);
        }
    size_t n_urls = 0;
    for (size_t i = 0; i < kinds.count; i++)
        n_urls += kinds.items[i].count;
    if (!n_urls)
        return;
    struct link_tokens tokens = {.hosts = set_of(&reader->arena, n_urls * (1 + MAX_TARGETS))};
    for (size_t i = 0; i < kinds.count; i++)
        for (size_t k = 0; k < kinds.items[i].count; k++)
            read_url(reader, &tokens, kinds.items[i].items[k]);
    for (size_t i = 0; i < tokens.found.count; i++) {
        span host = tokens.found.items[i];
        if (host.end[-1] == ':') {
            add_token(reader, LITERAL("url:"), host);
            continue;
        }
        tokens.tricks |= host_tricks(reader, host);
        if (size_of(host) > MAX_HOST) {
            span last = span_between(host.end - MAX_HOST, host.end), label = before_first(last, '.');
            host = skip_bytes(last, size_of(label) + 1);
        }
        add_host(reader, LITERAL("url:"), host, false);
    }
    static const struct {
        unsigned trick;
        const char *name;
    } TRICKS[] = {
        {TRICK_DISGUISED, "disguised"}, {TRICK_LONG_HOST, "long-host"}, {TRICK_MIXED_SCRIPTS, "mixed-scripts"},
        {TRICK_REDIRECTOR, "redirector"}, {TRICK_SHORTENER, "shortener"}, {TRICK_USER, "user"},
    };
    for (size_t i = 0; i < COUNT_OF(TRICKS); i++)
        if (tokens.tricks & TRICKS[i].trick)
            add_token(reader, LITERAL("url:"), span_of(TRICKS[i].name, strlen(TRICKS[i].name)));
}

/* ---- Structure ---- */

const char *const FACT_NAMES[N_FACTS] = {
    "comment-split", "hidden", "link-mismatch", "tag-split", "css:display-none", "css:tiny", "css:same-color",
    "css:off-screen",
};

const char *const CUT_NAMES[N_CUTS] = {"headers", "html", "links", "parts", "pdf", "smime", "text", "tnef"};

static void add_tags(struct reader *reader) {
    for (unsigned tag = 0; tag < TAG_COUNT; tag++)
        if (reader->message.tags[tag / 64] >> tag % 64 & 1) {
            add_token(reader, LITERAL("html:tag:"), tag == TAG_UNKNOWN ? LITERAL("unknown") : span_of_name(TAGS[tag].name));
        }
}

static void add_names(struct reader *reader, span prefix, uint32_t bits, const char *const names[], size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bits >> i & 1)
            add_token(reader, prefix, span_of(names[i], strlen(names[i])));
}

static void add_part(struct reader *reader, const struct part *part) {
    add_token(reader, LITERAL("part:"), first_characters(part->content_type, 40));
    add_token(reader, LITERAL("charset:"), first_characters(part->charset, 20));
    add_token(reader, LITERAL("encoding:"), first_characters(part->encoding, 20));
    if (is_empty(part->filename))
        return;
    const uint8_t *dot = find_last(part->filename, '.');
    span ending = span_between(dot ? dot + 1 : part->filename.at, part->filename.end);
    add_token(reader, LITERAL("attachment:"), lower_copy(&reader->arena, first_characters(ending, 12)));
}

void add_evidence(struct reader *reader) {
    struct message *message = &reader->message;
    for (size_t i = 0; i < message->section.fields.count; i++)
        add_field(reader, &message->section.fields.items[i]);
    add_links(reader);
    add_tags(reader);
    add_names(reader, LITERAL("html:"), message->facts, FACT_NAMES, N_FACTS);
    struct place hidden = {LITERAL("hidden:"), WORD_PARTS};
    for (size_t i = 0; i < message->hidden.count; i++)
        add_words(reader, &hidden, message->hidden.items[i]);
    for (size_t i = 0; i < message->parts.count; i++)
        add_part(reader, &message->parts.items[i]);
    add_names(reader, LITERAL("cut:"), message->cuts, CUT_NAMES, N_CUTS);
}
