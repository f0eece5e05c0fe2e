#include "words.h"

#include "links.h"
#include "reader.h"

#include <stdlib.h>

enum {
    MAX_WORD = 30,          /* characters; a longer word is summarised by its first letter and its length */
    MAX_CUT_WORD = 64 * MAX_WORD, /* characters of a word that is cut into parts */
    MIN_SPACED = 4,         /* letters with one sign between each two that are a word: "V i a g r a", "V.i.a.g.r.a" */
    MAX_SPACED_WORDS = 50,
    MAX_SIGNS = 4,          /* characters of a run of punctuation */
    MAX_WORDS = 1000,       /* of all texts: a novel pasted under a spam would drown it */
    MAX_JOINED = 75,        /* of these: the first words of a text say what it is */
    MAX_LAYOUT = 20000,     /* characters of text whose layout is read */
    MAX_FORM = 4 * 4 * MAX_WORD, /* bytes of a word in another form, some more than are read */
};

/* What a byte is in a word, and what is done with it there. */
enum { UPPER = 1, LOWER = 2, DIGIT = 4, INNER = 8, NOT_ASCII = 16, LEFT = 32, RIGHT = 64, CUTS = 128 };

static uint8_t KIND[256];
static bool IS_SIGN[256], MAY_BE_SIGN[256]; /* the latter of other characters' bytes, too */

void words_begin(void) {
    for (int c = 0; c < 256; c++) {
        uint8_t kind = c > 127 ? NOT_ASCII : is_upper((uint8_t)c) ? UPPER : is_lower((uint8_t)c) ? LOWER : is_digit((uint8_t)c) ? DIGIT : 0;
        if (c && c < 128) {
            kind |= strchr("$'-.,!%_", c) ? INNER : 0;
            kind |= strchr("'-.,!%_", c) ? LEFT : 0;
            kind |= strchr("'-.,_$", c) ? RIGHT : 0;
            kind |= strchr("-.,!_", c) ? CUTS : 0;
        }
        KIND[c] = kind;
        IS_SIGN[c] = MAY_BE_SIGN[c] = c > ' ' && c < 127 && !is_letter((uint8_t)c) && !is_digit((uint8_t)c);
        MAY_BE_SIGN[c] = MAY_BE_SIGN[c] || c >= 128;
    }
}

/* ---- Tokens ---- */

/* Where a token is put together, its prefix written; room for MAX_TOKEN bytes in all. */
static uint8_t *begin_token(struct reader *reader, span prefix) {
    uint8_t *token = row_token(reader->vocabulary);
    if (!token)
        arena_fail(&reader->arena, FAILED_MEMORY);
    memcpy(token, prefix.at, size_of(prefix));
    return token + size_of(prefix);
}

static void count_token(struct reader *reader, span prefix, span text, bool only_once) {
    prefix = first_characters(prefix, MAX_TOKEN / 2);
    text = first_characters(text, MAX_TOKEN / 2);
    memcpy(begin_token(reader, prefix), text.at, size_of(text));
    row_add(reader->vocabulary, size_of(prefix) + size_of(text), only_once);
}

void add_token(struct reader *reader, span prefix, span text) {
    if (!prefix.at)
        prefix = LITERAL("");
    if (!text.at)
        text = LITERAL("");
    count_token(reader, prefix, text, false);
}

/* The text at hand: what is to be joined, and letters that stand apart. */
struct scan {
    struct reader *reader;
    const struct place *place;
    span_list opened; /* words to be joined */
    span_list spelt; /* words whose letters stood apart */
    size_t n_words, n_capitals, n_spelt;
    bool is_text, opens;
    /* Of words of one character with one sign between each two: how many follow each other, and where they stand. */
    size_t n_singles;
    span singles;
};

static bool may_be_alpha(span word) {
    for (; word.at < word.end; word.at++)
        if (*word.at < 0x80 && !is_letter(*word.at))
            return false;
    return true;
}

/* One token of a word. */
static void put(struct scan *scan, span text) {
    struct reader *reader = scan->reader;
    if (reader->options.stems && scan->place->method == WORD_PARTS && may_be_alpha(text)) {
        span stem;
        if (!reader->host->ask(reader->host, ASK_STEM, text, (span){0}, &reader->arena, &stem))
            arena_fail(&reader->arena, FAILED_HOST);
        text = stem;
    }
    count_token(reader, scan->place->prefix, text, false);
    if (scan->opens && !(size_of(text) && *text.at == '#')) /* the shape of a word */
        *LIST_ADD(&reader->arena, &scan->opened) = arena_copy(&reader->arena, text);
}

/* A piece of ASCII in lower case. */
static void put_lower(struct scan *scan, span text) {
    struct reader *reader = scan->reader;
    if (reader->options.stems || scan->opens) {
        put(scan, lower_copy(&reader->arena, text));
        return;
    }
    span prefix = scan->place->prefix;
    text = first_bytes(text, MAX_TOKEN / 2);
    uint8_t *out = begin_token(reader, prefix);
    for (size_t i = 0; i < size_of(text); i++)
        out[i] = to_lower(text.at[i]);
    row_add(reader->vocabulary, size_of(prefix) + size_of(text), false);
}

/* The shape of a word with digits: "#$00.00". It is never joined. */
static void put_shape(struct scan *scan, span text) {
    uint8_t shape[MAX_WORD + 1];
    text = first_bytes(text, MAX_WORD);
    shape[0] = '#';
    for (size_t i = 0; i < size_of(text); i++)
        shape[i + 1] = is_digit(text.at[i]) ? '0' : to_lower(text.at[i]);
    count_token(scan->reader, scan->place->prefix, span_of(shape, size_of(text) + 1), false);
}

static size_t write_number(uint8_t *at, size_t n) {
    uint8_t digits[20];
    size_t size = 0, i = 0;
    do
        digits[size++] = (uint8_t)('0' + n % 10);
    while (n /= 10);
    while (size)
        at[i++] = digits[--size];
    return i;
}

/* What stands for a word of too many characters: its first one, and its length in tens. */
static void put_long(struct scan *scan, span first, size_t n) {
    uint8_t text[64];
    span name = LITERAL("long:");
    size_t size = size_of(name);
    memcpy(text, name.at, size);
    first = first_bytes(first, 20);
    for (const uint8_t *at = first.at; at < first.end; at++)
        text[size++] = to_lower(*at);
    text[size++] = ':';
    size += write_number(text + size, n / 10 * 10 > 1000 ? 1000 : n / 10 * 10);
    put(scan, span_of(text, size));
}

/* ---- Words of other scripts ---- */

/* A word in one of its forms, as far as it is read. */
struct form {
    uint8_t bytes[MAX_FORM];
    size_t size;
};

static void form_add(struct form *form, span text) {
    if (size_of(text) <= MAX_FORM - form->size) {
        memcpy(form->bytes + form->size, text.at, size_of(text));
        form->size += size_of(text);
    }
}

static size_t count_points(span text) {
    size_t n = 0;
    if (is_ascii(text))
        return size_of(text);
    for (; text.at < text.end; text.at++)
        n += (*text.at & 0xC0) != 0x80;
    return n;
}

/* The tokens of a run in scripts with spaces, not all of it ASCII. */
static void put_run(struct scan *scan, span word) {
    struct reader *reader = scan->reader;
    struct form low = {.size = 0}, bare = {.size = 0}, latin = {.size = 0};
    size_t n = 0;
    for (span rest = word; !is_empty(rest);) {
        uint32_t point = next_point(&rest);
        uint8_t ascii = to_lower((uint8_t)point);
        bool is_ascii = point < 128;
        span text = is_ascii ? span_of(&ascii, 1) : form_of(reader, point, FORM_LOW);
        n += count_points(text);
        if (n > MAX_WORD)
            continue;
        form_add(&low, text);
        form_add(&bare, is_ascii ? text : form_of(reader, point, FORM_BARE));
        form_add(&latin, is_ascii ? text : form_of(reader, point, FORM_LATIN));
    }
    if (n > MAX_WORD) {
        put_long(scan, span_of(low.bytes, low.size ? point_size(low.bytes[0]) : 0), n);
        return;
    }
    span as_low = span_of(low.bytes, low.size), as_bare = span_of(bare.bytes, bare.size);
    span as_latin = span_of(latin.bytes, latin.size);
    bool has_latin = false;
    for (size_t i = 0; i < bare.size; i++)
        has_latin = has_latin || is_lower(bare.bytes[i]);
    if (has_latin && !is_same(as_latin, as_bare) && is_ascii(as_latin)) { /* mixed scripts: a disguise */
        put(scan, as_latin);
        put(scan, LITERAL("look-alike"));
        return;
    }
    put(scan, as_low);
    if (!is_empty(as_bare) && !is_same(as_bare, as_low) && is_ascii(as_bare))
        put(scan, as_bare);
}

static bool is_unspaced(struct reader *reader, uint32_t point) {
    return point >= 0xE00 && character_of(reader, point)->flags & IS_UNSPACED;
}

/* The tokens of a piece without inner punctuation, not all of it ASCII: of scripts without spaces pairs of characters. */
static void put_other(struct scan *scan, span part) {
    while (!is_empty(part)) {
        span run = span_between(part.at, part.at), before = run;
        bool unspaced = false;
        size_t n = 0;
        while (!is_empty(part)) {
            span rest = part;
            bool other = is_unspaced(scan->reader, next_point(&rest));
            if (n && other != unspaced)
                break;
            unspaced = other;
            run.end = rest.at;
            if (unspaced && n)
                put(scan, span_between(before.at, rest.at));
            before = span_between(part.at, rest.at);
            part = rest;
            n++;
        }
        if (unspaced && n == 1)
            put(scan, run);
        else if (!unspaced)
            put_run(scan, run);
    }
}

/* ---- Words ---- */

/* The word as it is, and where it has digits its shape; of a short one without itself the shape alone. */
static void put_whole(struct scan *scan, span word, bool digits, bool itself) {
    while (word.at < word.end && KIND[*word.at] & LEFT)
        word.at++;
    while (word.at < word.end && KIND[word.end[-1]] & RIGHT)
        word.end--;
    if (size_of(word) > MAX_WORD)
        put_long(scan, first_points(word, 1), count_points(word));
    else if (!is_empty(word)) {
        if (itself)
            put_lower(scan, word);
        if (digits)
            put_shape(scan, word);
    }
}

static bool is_alpha(struct reader *reader, span text) {
    if (is_empty(text))
        return false;
    while (!is_empty(text)) {
        uint32_t point = next_point(&text);
        if (point < 128 ? !is_letter((uint8_t)point) : !(character_of(reader, point)->flags & IS_ALPHA))
            return false;
    }
    return true;
}

/* A word cut at its inner punctuation. Single letters with punctuation between them are also the word that they spell. */
static void put_parts(struct scan *scan, span word, bool may_be_spelt) {
    struct arena *arena = &scan->reader->arena;
    size_t n_parts = 0, n_letters = 0;
    word = first_points(word, MAX_CUT_WORD);
    span rest = word;
    while (rest.at < rest.end) {
        span part = rest;
        uint8_t kinds = 0;
        while (rest.at < rest.end && !(KIND[*rest.at] & CUTS))
            kinds |= KIND[*rest.at++];
        part.end = rest.at;
        rest.at += rest.at < rest.end;
        n_parts += !is_empty(part);
        while (part.at < part.end && (*part.at == '\'' || *part.at == '%'))
            part.at++;
        while (part.at < part.end && (part.end[-1] == '\'' || part.end[-1] == '%'))
            part.end--;
        if (is_empty(part) || (size_of(part) == 1 && *part.at == '$'))
            continue;
        n_letters += kinds & (UPPER | LOWER | NOT_ASCII) && size_of(part) == point_size(*part.at);
        if (kinds & NOT_ASCII)
            put_other(scan, part);
        else if (size_of(part) > MAX_WORD)
            put_long(scan, first_bytes(part, 1), size_of(part));
        else
            put_lower(scan, part);
    }
    if (!may_be_spelt || n_letters != n_parts || n_letters < MIN_SPACED)
        return;
    struct writer writer = writer_open(arena, size_of(word));
    for (; word.at < word.end; word.at++)
        if (!(KIND[*word.at] & CUTS) && *word.at != '\'' && *word.at != '%')
            put_byte(&writer, *word.at);
    span letters = writer_close(&writer);
    if (is_alpha(scan->reader, letters)) {
        put_parts(scan, letters, false);
        put(scan, LITERAL("spaced-letters"));
    }
}

/* A host with the domains above it, an address with the networks it is in. Where it was received from, of what has
 * digits and is neither address nor domain the shape alone, and of a domain the shape, too. */
static void put_host(struct scan *scan, span word, bool is_received) {
    span host = word;
    while (host.at < host.end && KIND[*host.at] & INNER)
        host.at++;
    while (host.at < host.end && KIND[host.end[-1]] & INNER)
        host.end--;
    size_t n_dots = 0;
    bool digits = false;
    for (const uint8_t *at = host.at; at < host.end; at++) {
        n_dots += *at == '.';
        digits = digits || is_digit(*at);
    }
    if (is_empty(host) || count_points(host) > MAX_HOST)
        return;
    const uint8_t *at = host.end;
    while (at > host.at && is_digit(at[-1]))
        at--;
    bool is_address = n_dots == 3 && at < host.end && at > host.at && at[-1] == '.';
    at = host.at;
    while (at < host.end && is_digit(*at))
        at++;
    bool is_number = at == host.end || (is_address && *at == '.');
    if (!is_received || is_number || !digits || (n_dots && !is_address)) {
        const uint8_t *begin = host.at;
        for (at = host.at; at <= host.end; at++) {
            if (at < host.end && *at != '.')
                continue;
            if (is_address)
                put_lower(scan, span_between(host.at, at));
            else { /* of four labels at most and of two at least */
                if (n_dots < 4 && (n_dots > 0 || begin == host.at))
                    put_lower(scan, span_between(begin, host.end));
                begin = at + 1;
                n_dots--;
            }
        }
    }
    if (is_received && digits && !is_number)
        put_whole(scan, word, true, false);
}

void add_host(struct reader *reader, span prefix, span host, bool is_received) {
    struct place place = {prefix, WORD_HOST};
    struct scan scan = {.reader = reader, .place = &place};
    put_host(&scan, host, is_received);
}

/* The tokens of a word; kinds: what bytes it has. */
static void put_word(struct scan *scan, span word, uint8_t kinds) {
    enum word_method method = scan->place->method;
    if (method == WORD_HOST)
        put_host(scan, word, true);
    else if (!(kinds & NOT_ASCII) && (method == WORD_WHOLE || kinds & DIGIT))
        put_whole(scan, word, kinds & DIGIT, true);
    else
        put_parts(scan, word, true);
}

/* Whether a word of more than one character has capitals and no small letter. */
static bool is_in_capitals(struct reader *reader, span word, uint8_t kinds) {
    if (!(kinds & NOT_ASCII))
        return (kinds & (UPPER | LOWER)) == UPPER && size_of(word) > 1;
    bool has_upper = false;
    size_t n = 0;
    for (; !is_empty(word); n++) {
        uint32_t point = next_point(&word);
        uint16_t flags = character_of(reader, point)->flags;
        if (flags & IS_LOWER)
            return false;
        has_upper = has_upper || flags & IS_UPPER;
    }
    return has_upper && n > 1;
}

/* Ends a run of words of one character: what they spell is kept. */
static void end_singles(struct scan *scan) {
    struct arena *arena = &scan->reader->arena;
    if (scan->n_singles >= MIN_SPACED) {
        struct writer writer = writer_open(arena, size_of(scan->singles));
        for (span rest = scan->singles; !is_empty(rest);) {
            span letter = rest;
            next_point(&rest);
            letter.end = rest.at;
            if (is_alpha(scan->reader, letter))
                put_span(&writer, letter);
            else
                put_byte(&writer, ' ');
            if (!is_empty(rest))
                next_point(&rest); /* the sign between two */
        }
        span letters = writer_close(&writer);
        while (!is_empty(letters) && scan->n_spelt < MAX_SPACED_WORDS) {
            span word = before_first(letters, ' ');
            if (count_points(word) >= MIN_SPACED) {
                *LIST_ADD(arena, &scan->spelt) = word;
                scan->n_spelt++;
            }
            letters.at = word.end < letters.end ? word.end + 1 : letters.end;
        }
    }
    scan->n_singles = 0;
}

static void add_single(struct scan *scan, span word) {
    if (!scan->n_singles || word.at != scan->singles.end + 1 || *scan->singles.end == '\n') {
        end_singles(scan);
        scan->singles = word;
    }
    scan->n_singles++;
    scan->singles.end = word.end;
}

/* The words of a text: of a text of a body the first max_words, and the first max_joined of these are to be joined. */
static void scan_words(struct scan *scan, span text, size_t max_words, size_t max_joined) {
    size_t n = 0;
    const uint8_t *at = text.at, *end = text.end;
    bool is_plain = scan->place->method != WORD_HOST && !scan->reader->options.stems;
    span prefix = scan->place->prefix;
    for (;;) {
        while (at < end && !KIND[*at])
            at++;
        if (at == end)
            break;
        span word = span_between(at, at);
        uint8_t kinds = 0, kind;
        while (at < end && (kind = KIND[*at])) {
            kinds |= kind;
            at++;
        }
        word.end = at;
        n++;
        if (scan->is_text) {
            if (size_of(word) == 1 || (kinds & NOT_ASCII && size_of(word) == point_size(*word.at)))
                add_single(scan, word);
            if (n > max_words)
                continue;
            scan->n_capitals += is_in_capitals(scan->reader, word, kinds);
            scan->opens = n <= max_joined;
        }
        if (is_plain && !(kinds & (DIGIT | INNER | NOT_ASCII)) && size_of(word) <= MAX_WORD) {
            /* Nine words of ten. */
            uint8_t *out = begin_token(scan->reader, prefix);
            for (size_t i = 0; i < size_of(word); i++)
                out[i] = word.at[i] | 32;
            row_add(scan->reader->vocabulary, size_of(prefix) + size_of(word), false);
            if (scan->opens)
                *LIST_ADD(&scan->reader->arena, &scan->opened) =
                    arena_copy(&scan->reader->arena, span_of(out, size_of(word)));
        } else
            put_word(scan, word, kinds);
    }
    scan->opens = false;
    if (!scan->is_text)
        return;
    end_singles(scan);
    scan->n_words += n;
    for (size_t i = 0; i < scan->spelt.count; i++) {
        put_parts(scan, scan->spelt.items[i], false);
        put(scan, LITERAL("spaced-letters"));
    }
    scan->spelt.count = 0;
}

/* ---- Texts ---- */

/* A text in which of what is not ASCII only words are left. */
static span words_of(struct reader *reader, span text) {
    struct arena *arena = &reader->arena;
    if (is_ascii(text))
        return text;
    bool is_composed = false;
again:;
    struct writer writer = writer_open(arena, size_of(text) + 16);
    for (span rest = text; !is_empty(rest);) {
        const uint8_t *at = rest.at;
        while (at < rest.end && *at < 0x80)
            at++;
        put_span(&writer, span_between(rest.at, at));
        rest.at = at;
        if (is_empty(rest))
            break;
        uint32_t point = next_point(&rest);
        const struct character *known = character_of(reader, point);
        if (known->flags & COMBINES && !is_composed) {
            writer_close(&writer);
            is_composed = true;
            if (!reader->host->ask(reader->host, ASK_COMPOSE, text, (span){0}, arena, &text))
                arena_fail(arena, FAILED_HOST);
            goto again;
        }
        put_span(&writer, known->flags & IN_WORDS ? span_between(at, rest.at) : form_of(reader, point, FORM_WORD));
    }
    return writer_close(&writer);
}

/* The runs of punctuation and symbols; of a long run its beginning, and each but once a message. */
static void add_signs(struct reader *reader, span prefix, span text) {
    const uint8_t *at = text.at;
    uint8_t run[4 * MAX_SIGNS];
    size_t size = 0, n = 0;
    for (;;) {
        if (!n)
            while (at < text.end && !MAY_BE_SIGN[*at])
                at++;
        span rest = span_between(at, text.end);
        uint32_t point = is_empty(rest) ? ' ' : next_point(&rest);
        bool is_sign = point < 128 && IS_SIGN[point], is_nothing = false;
        if (point >= 128) {
            uint16_t flags = character_of(reader, point)->flags;
            is_sign = flags & IS_MARK_OR_SIGN;
            is_nothing = flags & IS_INVISIBLE;
        }
        if (is_sign && n++ < MAX_SIGNS) {
            memcpy(run + size, at, (size_t)(rest.at - at));
            size += (size_t)(rest.at - at);
        } else if (!is_sign && !is_nothing && n) {
            count_token(reader, prefix, span_of(run, size), true);
            n = size = 0;
        }
        if (at == text.end)
            return;
        at = rest.at;
    }
}

struct text_share {
    size_t index, n_words, n_read;
};

static int by_words(const void *a, const void *b) {
    const struct text_share *one = a, *other = b;
    if (one->n_words != other->n_words)
        return one->n_words < other->n_words ? -1 : 1;
    return one->index < other->index ? -1 : 1;
}

/* How many words of each text are read, most in all. Half of these is for all texts evenly, so that each is heard; the
 * rest goes to the first ones, which a reader sees first, so that a hundred attached texts do not outvote the letter. */
static void share_words(struct text_share *shares, size_t n, size_t most, size_t *read) {
    size_t left = most / 2;
    for (size_t i = 0; i < n; i++) {
        struct text_share *share = &shares[i];
        share->n_read = left / (n - i) < share->n_words ? left / (n - i) : share->n_words;
        left -= share->n_read;
        read[share->index] = share->n_words; /* until it is known how many are read */
    }
    left += most - most / 2;
    size_t *first_share = read;
    for (size_t i = 0; i < n; i++)
        first_share[shares[i].index] = i; /* where the share of each text is */
    for (size_t text = 0; text < n; text++) {
        struct text_share *share = &shares[read[text]];
        size_t more = share->n_words - share->n_read < left ? share->n_words - share->n_read : left;
        share->n_read += more;
        left -= more;
    }
    for (size_t i = 0; i < n; i++)
        read[shares[i].index] = shares[i].n_read;
}

static size_t count_words(span text) {
    size_t n = 0;
    bool inside = false;
    for (; text.at < text.end; text.at++) {
        bool in_word = KIND[*text.at] != 0;
        n += in_word && !inside;
        inside = in_word;
    }
    return n;
}

static void add_number(struct reader *reader, span prefix, span name, size_t n) {
    uint8_t text[64];
    memcpy(text, name.at, size_of(name));
    size_t size = size_of(name);
    size += write_number(text + size, n);
    add_token(reader, prefix, span_of(text, size));
}

/* Each n neighbours of the words that were opened as one token. */
static void join_words(struct scan *scan, unsigned n) {
    struct reader *reader = scan->reader;
    for (size_t size = 2; size <= n && size <= scan->opened.count; size++)
        for (size_t i = 0; i + size <= scan->opened.count; i++) {
            uint8_t *token = begin_token(reader, LITERAL(""));
            size_t used = 0;
            for (size_t k = i; k < i + size; k++) {
                span word = scan->opened.items[k];
                if (size_of(word) + 1 > MAX_TOKEN - used)
                    break;
                if (k > i)
                    token[used++] = ' ';
                memcpy(token + used, word.at, size_of(word));
                used += size_of(word);
            }
            row_add(reader->vocabulary, used, false);
        }
}

void add_words(struct reader *reader, const struct place *place, span text) {
    struct scan scan = {.reader = reader, .place = place};
    scan_words(&scan, words_of(reader, text), 0, 0);
}

/* The words that the program around finds in a text. */
static void add_split(struct scan *scan, const span_list *words, size_t n_read, size_t n_joined) {
    for (size_t i = 0; i < words->count && i < n_read; i++) {
        span word = words->items[i];
        uint8_t kinds = 0;
        for (const uint8_t *at = word.at; at < word.end; at++)
            kinds |= KIND[*at];
        scan->opens = i < n_joined;
        scan->n_capitals += is_in_capitals(scan->reader, word, kinds);
        put_word(scan, word, kinds);
    }
    scan->opens = false;
}

void add_texts(struct reader *reader, const struct place *place, const span_list *texts, span prefix) {
    struct arena *arena = &reader->arena;
    struct scan scan = {.reader = reader, .place = place, .is_text = true};
    size_t n = texts->count, n_split = 0;
    span *clean = arena_take(arena, n, sizeof *clean);
    span_list *split = arena_take(arena, n, sizeof *split);
    size_t *n_read = arena_take(arena, n, sizeof *n_read), *n_joined = arena_take(arena, n, sizeof *n_joined);
    struct text_share *shares = arena_take(arena, n, sizeof *shares);
    struct writer writer = writer_open(arena, size_of(prefix) + 2);
    put_span(&writer, prefix);
    put_span(&writer, LITERAL("p:"));
    span signs = writer_close(&writer);
    for (size_t i = 0; i < n; i++) {
        add_signs(reader, signs, texts->items[i]);
        clean[i] = words_of(reader, texts->items[i]);
        if (reader->options.splits && !reader->host->split(reader->host, texts->items[i], arena, &split[i]))
            arena_fail(arena, FAILED_HOST);
        shares[i].index = i;
        shares[i].n_words = reader->options.splits ? split[i].count : n == 1 ? MAX_WORDS : count_words(clean[i]);
        n_split += split[i].count;
    }
    if (n > 1)
        qsort(shares, n, sizeof *shares, by_words);
    share_words(shares, n, MAX_WORDS, n_read);
    share_words(shares, n, MAX_JOINED, n_joined);
    for (size_t i = 0; i < n; i++) {
        if (reader->options.splits)
            add_split(&scan, &split[i], n_read[i], n_joined[i]);
        scan_words(&scan, clean[i], reader->options.splits ? 0 : n_read[i], reader->options.splits ? 0 : n_joined[i]);
    }
    join_words(&scan, reader->options.ngrams);
    add_number(reader, prefix, LITERAL("length:"), bit_length(reader->options.splits ? n_split : scan.n_words));
    add_number(reader, prefix, LITERAL("caps:"), bit_length(scan.n_capitals));
}

/* Capitals of ASCII: of eight bytes at a time those that "A" and 0x3F take over 0x80, and "Z" and 0x25 do not. */
static size_t count_capitals(span text) {
    const uint64_t ones = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
    size_t n = 0;
    for (; size_of(text) >= 8; text.at += 8) {
        uint64_t bytes = load_64(text.at), low = bytes & ~high;
        uint64_t capitals = (low + 0x3F * ones) & ~(low + 0x25 * ones) & ~bytes & high;
        n += (capitals >> 7) * ones >> 56;
    }
    for (; text.at < text.end; text.at++)
        n += is_upper(*text.at);
    return n;
}

void add_layout(struct reader *reader, const span_list *const lists[], size_t n_lists) {
    size_t n_points = 0, n_ascii = 0, n_ends = 0, n_empty = 0, n_capitals = 0, n_pending = 0;
    bool after_end = false, is_first = true;
    for (size_t l = 0; l < n_lists; l++)
        for (size_t i = 0; i < lists[l]->count; i++) {
            n_pending += !is_first; /* texts stand on lines of their own */
            is_first = false;
            for (span text = lists[l]->items[i]; text.at < text.end && n_points < MAX_LAYOUT;) {
                if (*text.at == '\n') { /* those behind the last line are not read: mailboxes add and remove them */
                    n_pending++;
                    text.at++;
                    continue;
                }
                for (; n_pending && n_points < MAX_LAYOUT; n_pending--) {
                    n_points++;
                    n_ascii++;
                    n_ends++;
                    after_end = !after_end;
                    n_empty += !after_end;
                }
                if (n_points == MAX_LAYOUT)
                    break;
                after_end = false;
                span line = first_points(before_first(text, '\n'), MAX_LAYOUT - n_points);
                n_points += count_points(line);
                if (is_ascii(line))
                    n_ascii += size_of(line);
                else
                    for (const uint8_t *at = line.at; at < line.end; at++)
                        n_ascii += *at < 0x80;
                n_capitals += count_capitals(line);
                text.at = line.end;
            }
        }
    size_t line = (n_points - n_ends) / (n_ends + 1 - n_empty);
    add_number(reader, LITERAL(""), LITERAL("line:"), bit_length(line));
    add_number(reader, LITERAL(""), LITERAL("capitals:"), bit_length(64 * n_capitals / (n_ascii ? n_ascii : 1)));
}
