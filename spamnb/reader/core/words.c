/* Text -> words -> tokens, in every script.
 *
 * A word is a maximal run of word characters: ASCII letters and digits, some ASCII punctuation, and every letter, mark
 * and number of Unicode.
 */
#include "reader.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    MAX_WORD = 30,          /* characters; longer words are left out */
    MAX_CUT_WORD = 64 * MAX_WORD, /* characters of a word that is cut into parts */
    MAX_TOKEN = 4096,       /* bytes of a token behind its prefix */
    MAX_SIGNS = 4,          /* characters of a run of punctuation */
    MAX_RUNS = 200,         /* of a text, those of one sign that were met before left out */
    MAX_WORDS = 1000,       /* of all texts: a novel pasted under a spam would drown it */
    MAX_JOINED = 75,        /* of these: the first words of a text say what it is */
};

/* ---- What bytes are ---- */

enum { BLOCK = 64 };

/* A text, and of each of its bytes a bit in each mask. */
struct text {
    span written, low; /* low: its ASCII in lower case */
    size_t size;
    uint64_t *in_word, *letter, *upper, *mark;
};

typedef uint8_t sixteen __attribute__((vector_size(16)));

/* All bits of those bytes that are among these. */
static inline sixteen is_within(sixteen bytes, uint8_t first, uint8_t last) {
    return (sixteen)(bytes - first <= (uint8_t)(last - first));
}

/* One bit of each of sixteen bytes, all of whose bits are the same. */
static inline uint64_t gathered(sixteen bytes) {
#ifdef __SSE2__
    return (uint64_t)_mm_movemask_epi8((__m128i)bytes);
#else
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof bytes; i += 8) {
        uint64_t lowest = load_64((const uint8_t *)&bytes + i) & UINT64_C(0x0101010101010101);
        bits |= (lowest * UINT64_C(0x0102040810204080) >> 56) << i; /* the product has them in its highest byte */
    }
    return bits;
#endif
}

/* Fills in the masks of one block. */
static void read_block(struct text *text, size_t block, const uint8_t *written, uint8_t *low) {
    uint64_t in_word = 0, letter = 0, upper = 0, mark = 0;
    for (size_t i = 0; i < BLOCK; i += sizeof(sixteen)) {
        sixteen bytes;
        memcpy(&bytes, written + i, sizeof bytes);
        sixteen letters = is_within(bytes | 32, 'a', 'z'), capitals = is_within(bytes, 'A', 'Z');
        sixteen plain = letters | is_within(bytes, '0', '9'), others = is_within(bytes, 128, 255);
        sixteen inner = is_within(bytes, ',', '.') | is_within(bytes, '$', '%') | is_within(bytes, '!', '!') |
                        is_within(bytes, '\'', '\'') | is_within(bytes, '_', '_');
        letter |= gathered(letters) << i;
        upper |= gathered(capitals) << i;
        in_word |= gathered(plain | inner | others) << i;
        mark |= gathered((is_within(bytes, '!', '~') & ~plain) | others) << i;
        bytes |= capitals & 32;
        memcpy(low + i, &bytes, sizeof bytes);
    }
    text->in_word[block] = in_word;
    text->letter[block] = letter;
    text->upper[block] = upper;
    text->mark[block] = mark;
}

static struct text read_text(struct arena *arena, span written) {
    struct text text = {.written = written, .size = size_of(written)};
    size_t n_blocks = text.size / BLOCK + 1, stride = n_blocks + 1; /* one more, so that bits behind can be read */
    uint8_t *low = arena_room(arena, n_blocks, BLOCK), last[BLOCK] = {0};
    text.low = span_of(low, text.size);
    text.in_word = arena_room(arena, 4 * stride, sizeof(uint64_t));
    text.letter = text.in_word + stride;
    text.upper = text.letter + stride;
    text.mark = text.upper + stride;
    for (size_t block = 0; block < n_blocks - 1; block++)
        read_block(&text, block, written.at + BLOCK * block, low + BLOCK * block);
    if (text.size % BLOCK)
        memcpy(last, written.end - text.size % BLOCK, text.size % BLOCK);
    read_block(&text, n_blocks - 1, last, low + BLOCK * (n_blocks - 1));
    text.in_word[n_blocks] = text.letter[n_blocks] = text.upper[n_blocks] = text.mark[n_blocks] = 0;
    return text;
}

/* What a byte is alone. What is in words and a mark may stand inside of a word; CUTS parts it there. ENDS: does not
 * stay at the end of a word with digits. */
enum { IN_WORD = 1, LETTER = 2, DIGIT = 4, MARK = 8, NOT_ASCII = 16, CUTS = 32, ENDS = 64 };

static uint8_t KIND[256];

void words_begin(void) {
    for (int c = 1; c < 256; c++) {
        bool is_plain = is_letter((uint8_t)c) || is_digit((uint8_t)c), is_other = c > 127;
        bool is_mark = is_other || (c > ' ' && c < 127 && !is_plain);
        KIND[c] = (uint8_t)((is_plain || is_other || strchr("!$%',-._", c) ? IN_WORD : 0) | (is_mark ? MARK : 0) |
                            (is_other ? NOT_ASCII : 0) | (is_letter((uint8_t)c) ? LETTER : 0) |
                            (is_digit((uint8_t)c) ? DIGIT : 0) | (strchr("-.,!_", c) ? CUTS : 0) |
                            (strchr("'-.,_$", c) ? ENDS : 0));
    }
}

static bool is_inner(uint8_t c) { return (KIND[c] & (IN_WORD | MARK | NOT_ASCII)) == (IN_WORD | MARK); }

static uint8_t kinds_of(span text) {
    uint8_t kinds = 0;
    for (; text.at < text.end; text.at++)
        kinds |= KIND[*text.at];
    return kinds;
}

/* The bits of a mask from a place on, fewer than 64 of them. */
static uint64_t bits_at(const uint64_t *mask, size_t at, size_t n) {
    uint64_t bits = mask[at / BLOCK] >> at % BLOCK | mask[at / BLOCK + 1] << 1 << (BLOCK - 1 - at % BLOCK);
    return bits & ((UINT64_C(1) << n) - 1);
}

/* The first place from a place on whose bit is set, or is not; the size of the text where there is none. */
static size_t next_place(const uint64_t *mask, bool is_set, size_t at, size_t size) {
    uint64_t flip = is_set ? 0 : UINT64_MAX;
    for (; at < size; at = (at | (BLOCK - 1)) + 1) {
        uint64_t bits = (mask[at / BLOCK] ^ flip) >> at % BLOCK;
        if (bits)
            return at + (size_t)__builtin_ctzll(bits);
    }
    return size;
}

/* ---- Tokens ---- */

static inline void count_token(struct reader *reader, struct token token) {
    if (!row_add(reader->vocabulary, token))
        arena_fail(&reader->arena, FAILED_MEMORY);
}

static void add_token_as(struct reader *reader, span prefix, span text, bool only_once) {
    span token = two_spans(&reader->arena, prefix, first_characters(text, MAX_TOKEN));
    uint64_t hash = token_hash(reader->vocabulary, token);
    count_token(reader, (struct token){hash, token, span_of(token.end, 0), false, only_once});
}

void add_token(struct reader *reader, span prefix, span text) { add_token_as(reader, prefix, text, false); }

void add_fact(struct reader *reader, span prefix, span text) { add_token_as(reader, prefix, text, true); }

static size_t write_number(uint8_t *at, size_t n) {
    size_t size = n < 10 ? 0 : write_number(at, n / 10);
    at[size] = (uint8_t)('0' + n % 10);
    return size + 1;
}

static void add_number(struct reader *reader, span prefix, span name, size_t n) {
    uint8_t text[64];
    memcpy(text, name.at, size_of(name));
    add_token(reader, prefix, span_of(text, size_of(name) + write_number(text + size_of(name), n)));
}

/* What is known while the words of texts are read. */
struct scan {
    struct reader *reader;
    struct place place;
    uint64_t prefix_hash;
    size_t n_words, n_capitals;
    bool opens; /* words go to opened, too, which are to be joined */
    bool only_once;
    LIST(struct token) opened;
};

static struct scan begin_scan(struct reader *reader, const struct place *place) {
    uint64_t hash = is_empty(place->prefix) ? 0 : word_hash(reader->vocabulary, 0, place->prefix);
    return (struct scan){.reader = reader, .place = *place, .prefix_hash = hash};
}

/* Counts a word in lower case without blanks and colons; it stands in the arena. */
static void put_plain(struct scan *scan, span word) {
    uint64_t hash = word_hash(scan->reader->vocabulary, scan->prefix_hash, word);
    struct token token = {hash, scan->place.prefix, word, false, scan->only_once};
    count_token(scan->reader, token);
    if (scan->opens)
        *LIST_ADD(&scan->reader->arena, &scan->opened) = token;
}

/* Counts a word in lower case of any form; it stands in the arena. */
static void put(struct scan *scan, span word) {
    struct reader *reader = scan->reader;
    if (reader->options.stems && scan->place.method == WORD_PARTS && !(kinds_of(word) & (DIGIT | CUTS)))
        word = ask(reader, ASK_STEM, word, (span){0}).text;
    if (find_byte(word, ' ') || find_byte(word, ':'))
        add_token_as(reader, scan->place.prefix, word, scan->only_once);
    else
        put_plain(scan, word);
}

/* The shape of a word with digits: "#$00.00". It is never joined. */
static void add_shape(struct scan *scan, span word) {
    uint8_t shape[MAX_WORD + 1] = "#";
    word = first_bytes(word, MAX_WORD);
    for (size_t i = 0; i < size_of(word); i++)
        shape[i + 1] = is_digit(word.at[i]) ? '0' : word.at[i];
    add_token(scan->reader, scan->place.prefix, span_of(shape, size_of(word) + 1));
}

/* ---- Words of other scripts ---- */

/* The tokens of a run in scripts with spaces: it in small letters, and where that is ASCII without accents. Letters of
 * other scripts that pose as Latin among Latin ones are a disguise. */
static void put_run(struct scan *scan, span run) {
    if (size_of(first_points(run, MAX_WORD)) < size_of(run))
        return;
    span low = written_as(scan->reader, run, FORM_LOW), bare = written_as(scan->reader, run, FORM_BARE);
    span latin = written_as(scan->reader, run, FORM_LATIN);
    bool has_posers = !is_same(bare, latin);
    if (has_posers && kinds_of(bare) & LETTER && is_ascii(latin)) {
        put(scan, latin);
        put(scan, LITERAL("look-alike"));
        return;
    }
    put(scan, low);
    if (!has_posers && !is_empty(latin) && is_ascii(latin) && !is_same(latin, low))
        put(scan, latin);
}

/* The tokens of a piece without inner punctuation, not all of it ASCII: of scripts without spaces pairs of characters.
 */
static void put_other(struct scan *scan, span part) {
    while (!is_empty(part)) {
        span run = span_of(part.at, 0), before = run;
        bool is_unspaced = false;
        for (size_t n = 0; !is_empty(part); n++) {
            span rest = part;
            uint32_t point = next_point(&rest);
            bool other = point >= 0xE00 && character_of(scan->reader, point)->flags & IS_UNSPACED;
            if (n && other != is_unspaced)
                break;
            if (n && other)
                put(scan, span_between(before.at, rest.at));
            is_unspaced = other;
            before = span_between(part.at, rest.at);
            part.at = run.end = rest.at;
        }
        if (!is_unspaced)
            put_run(scan, run);
        else if (before.at == run.at) /* one character */
            put(scan, run);
    }
}

/* ---- Words ---- */

/* The word as it is, and where it has digits its shape. */
static void put_whole(struct scan *scan, span word, bool has_digits) {
    while (word.at < word.end && is_inner(*word.at) && *word.at != '$')
        word.at++;
    while (word.at < word.end && KIND[word.end[-1]] & ENDS)
        word.end--;
    if (is_empty(word) || size_of(word) > MAX_WORD)
        return;
    put(scan, word);
    if (has_digits)
        add_shape(scan, word);
}

/* A word cut at its inner punctuation. */
static void put_parts(struct scan *scan, span word) {
    word = first_points(word, MAX_CUT_WORD);
    while (word.at < word.end) {
        span part = word;
        uint8_t kinds = 0;
        for (; word.at < word.end && !(KIND[*word.at] & CUTS); word.at++)
            kinds |= KIND[*word.at];
        part.end = word.at;
        word = skip_bytes(word, 1);
        while (part.at < part.end && is_inner(*part.at) && *part.at != '$')
            part.at++;
        while (part.at < part.end && is_inner(part.end[-1]) && part.end[-1] != '$')
            part.end--;
        if (is_empty(part) || (size_of(part) == 1 && *part.at == '$'))
            continue;
        if (kinds & NOT_ASCII)
            put_other(scan, part);
        else if (size_of(part) <= MAX_WORD)
            put(scan, part);
    }
}

/* A host with the domains above it, of up to four labels, or an address with the networks it is in; nothing of what has
 * digits and is neither, such as the ids that servers give. */
static void put_host(struct scan *scan, span word) {
    span host = word;
    while (host.at < host.end && is_inner(*host.at))
        host.at++;
    while (host.at < host.end && is_inner(host.end[-1]))
        host.end--;
    if (is_empty(host) || size_of(host) > MAX_HOST)
        return;
    size_t n_dots = 0;
    bool is_number = true, has_digits = false;
    for (const uint8_t *at = host.at; at < host.end; at++) {
        n_dots += *at == '.';
        has_digits = has_digits || is_digit(*at);
        is_number = is_number && (is_digit(*at) || *at == '.');
    }
    bool is_address = is_number && n_dots == 3;
    bool is_opaque = has_digits && !n_dots && !is_number;
    if (!is_opaque && (is_address || n_dots < 4))
        put(scan, host);
    for (const uint8_t *at = host.at; at < host.end && n_dots; at++) {
        if (*at != '.')
            continue;
        n_dots--;
        if (is_address)
            put(scan, span_between(host.at, at));
        else if (n_dots > 0 && n_dots < 4)
            put(scan, span_between(at + 1, host.end));
    }
}

void add_host(struct reader *reader, span prefix, span host) {
    struct scan scan = begin_scan(reader, &(struct place){prefix, WORD_HOST});
    scan.only_once = true;
    put_host(&scan, host);
}

/* The words of a text: the first max_words, and the first max_joined of these are to be joined. How many were read. */
static size_t scan_words(struct scan *scan, const struct text *text, size_t max_words, size_t max_joined) {
    struct reader *reader = scan->reader;
    enum word_method method = scan->place.method;
    size_t n = 0, size = text->size, begin, end = 0;
    while ((begin = next_place(text->in_word, true, end, size)) < size) {
        end = next_place(text->in_word, false, begin, size);
        if (n++ >= max_words)
            continue;
        scan->opens = n <= max_joined;
        span word = span_between(text->low.at + begin, text->low.at + end);
        size_t length = end - begin < BLOCK ? end - begin : BLOCK - 1;
        uint64_t letters = bits_at(text->letter, begin, length);
        scan->n_capitals += length > 1 && letters && letters == bits_at(text->upper, begin, length);
        if (length <= MAX_WORD && letters == bits_at(text->in_word, begin, length)) { /* nine words of ten */
            if (reader->options.stems)
                put(scan, word);
            else
                put_plain(scan, word);
            continue;
        }
        uint8_t kinds = kinds_of(word);
        if (method == WORD_HOST)
            put_host(scan, word);
        else if (!(kinds & NOT_ASCII) && (method == WORD_WHOLE || kinds & DIGIT))
            put_whole(scan, word, kinds & DIGIT);
        else
            put_parts(scan, word);
    }
    scan->opens = false;
    scan->n_words += n;
    return n < max_words ? n : max_words;
}

/* ---- Texts ---- */

/* A text in which of what is not ASCII only words are left. */
static span words_of(struct reader *reader, span text) {
    for (span rest = behind_ascii(text); !is_empty(rest); rest = behind_ascii(rest))
        if (character_of(reader, next_point(&rest))->flags & COMBINES) {
            text = ask(reader, ASK_COMPOSE, text, (span){0}).text;
            break;
        }
    struct writer writer = writer_open(&reader->arena, size_of(text) + 16);
    while (!is_empty(text)) {
        span rest = behind_ascii(text);
        put_span(&writer, span_between(text.at, rest.at));
        text = rest;
        if (is_empty(rest))
            break;
        uint32_t point = next_point(&text);
        bool stays = character_of(reader, point)->flags & IN_WORDS;
        put_span(&writer, stays ? span_between(rest.at, text.at) : form_of(reader, point, FORM_WORD));
    }
    return writer_close(&writer);
}

/* The runs of punctuation and symbols; of a long run its beginning, and each but once a message. */
static void add_signs(struct reader *reader, span prefix, const struct text *text) {
    bool is_known[128] = {false}; /* of runs of one sign, which are most */
    size_t n_runs = 0;
    for (size_t begin, end = 0; (begin = next_place(text->mark, true, end, text->size)) < text->size;) {
        end = next_place(text->mark, false, begin, text->size);
        uint8_t first = text->written.at[begin];
        if (end - begin == 1 && first < 128) {
            if (is_known[first])
                continue;
            is_known[first] = true;
        }
        if (n_runs++ == MAX_RUNS)
            return;
        uint8_t run[2 + 4 * MAX_SIGNS] = "p:";
        size_t n = 0, size = 2;
        for (span rest = span_between(text->written.at + begin, text->written.at + end); !is_empty(rest);) {
            const uint8_t *at = rest.at;
            uint32_t point = next_point(&rest);
            uint16_t flags = point < 128 ? IS_MARK_OR_SIGN : character_of(reader, point)->flags;
            if (flags & IS_MARK_OR_SIGN && n++ < MAX_SIGNS) {
                memcpy(run + size, at, (size_t)(rest.at - at));
                size += (size_t)(rest.at - at);
            }
            bool is_end = is_empty(rest) || !(flags & (IS_MARK_OR_SIGN | IS_INVISIBLE));
            if (is_end && n) {
                add_fact(reader, prefix, span_of(run, size));
                n = 0;
                size = 2;
            }
        }
    }
}

/* Each n neighbours of the words that were opened as one token. */
static void join_words(struct scan *scan, unsigned n) {
    struct reader *reader = scan->reader;
    size_t count = scan->opened.count;
    const struct token *words = scan->opened.items;
    struct token *joined = arena_room(&reader->arena, count, sizeof *joined); /* of fewer neighbours */
    if (count)
        memcpy(joined, words, count * sizeof *joined);
    for (size_t size = 2; size <= n; size++)
        for (size_t i = 0; i + size <= count; i++) {
            const struct token *next = &words[i + size - 1];
            uint64_t hash = pair_hash(reader->vocabulary, joined[i].hash, next->hash);
            count_token(reader, (struct token){hash, joined[i].second, next->second, true, false});
            if (size == n)
                continue;
            struct writer writer = writer_open(&reader->arena, 100);
            put_span(&writer, joined[i].second);
            put_byte(&writer, ' ');
            put_span(&writer, next->second);
            joined[i] = (struct token){.hash = hash, .second = writer_close(&writer)};
        }
}

void add_words(struct reader *reader, const struct place *place, span written) {
    struct scan scan = begin_scan(reader, place);
    struct text text = read_text(&reader->arena, is_ascii(written) ? written : words_of(reader, written));
    scan_words(&scan, &text, SIZE_MAX, 0);
}

/* What lines look like: their length, and the share of capitals. */
struct layout {
    size_t n_bytes, n_lines, n_capitals;
};

static void read_layout(struct layout *layout, const struct text *text) {
    for (size_t block = 0; block <= text->size / BLOCK; block++)
        layout->n_capitals += (size_t)__builtin_popcountll(text->upper[block]);
    for (span rest = text->written; !is_empty(rest);) {
        span line = before_first(rest, '\n');
        layout->n_lines += !is_empty(line);
        layout->n_bytes += size_of(line);
        rest = skip_bytes(rest, size_of(line) + 1);
    }
}

void add_texts(struct reader *reader, const struct place *place, const span_list *texts, span prefix) {
    struct scan scan = begin_scan(reader, place);
    size_t words_left = MAX_WORDS, joined_left = MAX_JOINED;
    struct layout layout = {0};
    for (size_t i = 0; i < texts->count; i++) {
        span written = texts->items[i];
        struct text text = read_text(&reader->arena, written);
        add_signs(reader, prefix, &text);
        read_layout(&layout, &text);
        if (reader->options.splits)
            written = ask(reader, ASK_SPLIT, written, (span){0}).text;
        if (!is_ascii(written))
            written = words_of(reader, written);
        if (written.at != text.written.at)
            text = read_text(&reader->arena, written);
        /* Half of all words is kept for all texts evenly, so that each is heard; the rest goes to the first ones, which
         * a reader sees first, so that a hundred attached texts do not outvote the letter. */
        size_t n_others = texts->count - i - 1;
        size_t max_words = words_left - MAX_WORDS / 2 * n_others / texts->count;
        size_t max_joined = joined_left - MAX_JOINED / 2 * n_others / texts->count;
        size_t n_read = scan_words(&scan, &text, max_words, max_joined);
        words_left -= n_read;
        joined_left -= n_read < max_joined ? n_read : max_joined;
    }
    join_words(&scan, reader->options.ngrams);
    add_number(reader, prefix, LITERAL("length:"), bit_length(scan.n_words));
    add_number(reader, prefix, LITERAL("caps:"), bit_length(scan.n_capitals));
    if (!is_empty(prefix))
        return;
    add_number(reader, prefix, LITERAL("line:"), bit_length(layout.n_bytes / (layout.n_lines ? layout.n_lines : 1)));
    size_t n_capitals = 64 * layout.n_capitals / (layout.n_bytes ? layout.n_bytes : 1);
    add_number(reader, prefix, LITERAL("capitals:"), bit_length(n_capitals));
}
