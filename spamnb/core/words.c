/* Text -> words -> tokens, in every script.
 *
 * A word is a maximal run of word characters: ASCII letters and digits, some ASCII punctuation, and every letter, mark
 * and number of Unicode.
 */
#include "reader.h"

#include <stdio.h>

enum {
    MAX_WORD = 30, /* characters; longer words are not counted, because 2,922 of 2,965 occur in one message only */
    MAX_PIECES = 2000, /* of a word that is split into parts or pairs of characters; ordinary mail: 379 */
    FEW_PIECES = 8, /* pieces of a word that count as one word; each further piece counts as one more word, because
                     * a text without spaces is a single word */
    MAX_TOKEN = 4096, /* bytes of a token without its prefix; ordinary mail: 75 */
    MAX_RUN_CHARACTERS = 4, /* of a run of punctuation: a longer run has the token of its first four characters */
    MAX_PUNCTUATION_RUNS = 200, /* of a text: a table of numbers has up to 16,228 (20 Newsgroups). Without this bound,
                                 * as many messages of the SpamAssassin corpus are misclassified */
    MAX_WORDS = 1000, /* of all texts of a message, because the words of a novel pasted below a spam would outvote the
                       * spam (docs/experiments.md#words-of-a-text) */
    MAX_JOINED = 75, /* words of a message that are joined to pairs, because more words gain little
                      * (docs/experiments.md#pairs-of-words); equal to BIGRAM_WORDS of options.py */
};

/* ---- Kinds of bytes ---- */

/* The kinds of bytes. A byte may be of several kinds.
 * INNER: punctuation that words may contain; it is removed from both ends of a host
 * EDGE: INNER without "$"; it is removed from both ends of a part of a word, and from the beginning of a whole word
 * SPLITS: punctuation between the parts of a word
 * ENDS: punctuation that is removed from the end of a word that is counted as a whole
 * CONTROL: a control character, which shows nothing */
enum {
    IN_WORD = 1, LETTER = 2, DIGIT = 4, PUNCTUATION = 8, NOT_ASCII = 16, SPLITS = 32, ENDS = 64, SMALL = 128,
    CONTROL = 256, INNER = 512, EDGE = 1024,
};

static uint16_t KIND[256];

void words_begin(void) {
    for (int c = 0; c < 256; c++) {
        if (c == 127 || (c < ' ' && (c < '\t' || c > '\r'))) {
            KIND[c] = CONTROL;
            continue;
        }
        bool is_plain = is_letter((uint8_t)c) || is_digit((uint8_t)c), is_other = c > 127;
        bool is_punctuation = is_other || (c > ' ' && c < 127 && !is_plain);
        bool is_inner = is_punctuation && strchr("!$%',-._", c);
        KIND[c] = (uint16_t)((is_plain || is_other || is_inner ? IN_WORD : 0) | (is_punctuation ? PUNCTUATION : 0) |
                             (is_other ? NOT_ASCII : 0) | (is_letter((uint8_t)c) ? LETTER : 0) |
                             (is_digit((uint8_t)c) ? DIGIT : 0) | (strchr("-.,!_", c) ? SPLITS : 0) |
                             (strchr("'-.,_$", c) ? ENDS : 0) | (is_lower((uint8_t)c) ? SMALL : 0) |
                             (is_inner ? INNER : 0) | (is_inner && c != '$' ? EDGE : 0));
    }
}

static unsigned kinds_of(span text) {
    unsigned kinds = 0;
    for (; text.at < text.end; text.at++)
        kinds |= KIND[*text.at];
    return kinds;
}

/* Returns a word without bytes of the kinds at_begin at its beginning, and without bytes of the kinds at_end at its
 * end. */
static span trim(span word, unsigned at_begin, unsigned at_end) {
    while (word.at < word.end && KIND[*word.at] & at_begin)
        word.at++;
    while (word.at < word.end && KIND[word.end[-1]] & at_end)
        word.end--;
    return word;
}

static span without_kind(struct reader *reader, span word, unsigned kind) {
    struct writer writer = writer_open(&reader->arena, size_of(word));
    for (; word.at < word.end; word.at++)
        if (!(KIND[*word.at] & kind))
            put_byte(&writer, *word.at);
    return writer_close(&writer);
}

/* ---- Tokens ---- */

/* Counts a token. The token must be in the arena, because the vocabulary reads its text later. */
static void count_token(struct reader *reader, span token) {
    if (!reader->message.tokens_left--) {
        reader->message.tokens_left = 0;
        reader->message.truncations |= TRUNCATED_TOKENS;
        return;
    }
    if (!row_add(reader->vocabulary, token))
        arena_fail(&reader->arena, FAILED_MEMORY);
}

void add_token(struct reader *reader, span prefix, span text) {
    count_token(reader, concatenate(&reader->arena, prefix, truncate_text(text, MAX_TOKEN)));
}

static void add_number(struct reader *reader, span prefix, const char *name, unsigned n) {
    char text[64];
    add_token(reader, prefix, span_of(text, (size_t)snprintf(text, sizeof text, "%s%u", name, n)));
}

/* The state of scan_words. */
struct scan {
    struct reader *reader;
    struct word_rule rule;
    size_t n_words, n_capital_words, n_pieces; /* n_pieces: pieces of the current word */
    span text;                                 /* the current text, in lower case */
    enum { NOT_KNOWN, IS_LATIN, IS_NOT_LATIN } script; /* of the current text */
    bool is_joinable; /* the first FEW_PIECES pieces of the current word are added to joinable */
    span_list joinable; /* the pieces that are joined to pairs */
};

/* Counts a piece of a word. The piece is in lower case and in the arena. */
static void count_piece(struct scan *scan, span piece) {
    struct reader *reader = scan->reader;
    if (scan->n_pieces++ >= MAX_PIECES)
        return;
    if (reader->options.stems && scan->rule.method == WORD_PARTS && !(kinds_of(piece) & (DIGIT | SPLITS)))
        piece = ask(reader, ASK_STEM, piece, (span){0}).text;
    if (is_empty(scan->rule.prefix))
        count_token(reader, piece);
    else
        add_token(reader, scan->rule.prefix, piece);
    if (scan->is_joinable && scan->n_pieces <= FEW_PIECES)
        *LIST_ADD(&reader->arena, &scan->joinable) = piece;
}

/* Counts the shape of a word with digits, in which each digit is 0: "#$00.00". A shape is never joined to a pair. */
static void count_shape(struct scan *scan, span word) {
    uint8_t shape[MAX_WORD + 1] = "#";
    word = first_bytes(word, MAX_WORD);
    for (size_t i = 0; i < size_of(word); i++)
        shape[i + 1] = is_digit(word.at[i]) ? '0' : word.at[i];
    add_token(scan->reader, scan->rule.prefix, span_of(shape, size_of(word) + 1));
}

/* ---- Words of other scripts ---- */

/* Returns whether most letters of the current text are in words that look Latin as a whole. Of another script, mostly
 * short words do. */
static bool looks_latin(struct scan *scan) {
    size_t n_latin = 0, n_others = 0;
    const uint8_t *at = scan->text.at, *end = scan->script == NOT_KNOWN ? scan->text.end : at;
    while (at < end) {
        span word = span_of(at, 0);
        unsigned kinds = 0;
        size_t n_letters = 0;
        for (; at < end && KIND[*at] & (LETTER | NOT_ASCII); at++) {
            kinds |= KIND[*at];
            n_letters += (*at & 0xC0) != 0x80;
        }
        word.end = at;
        at += at == word.at;
        bool is_latin = !(kinds & NOT_ASCII) || is_ascii(replace_by_form(scan->reader, word, FORM_LATIN));
        *(is_latin ? &n_latin : &n_others) += n_letters;
    }
    if (scan->script == NOT_KNOWN)
        scan->script = n_latin > n_others ? IS_LATIN : IS_NOT_LATIN;
    return scan->script == IS_LATIN;
}

/* Counts a run of characters of scripts with spaces: its FORM_LOW, and also its form without accents if this form is
 * ASCII. If all letters look Latin, and the text or another letter of the run is Latin, counts FORM_LATIN instead. Only a
 * disguise mixes Latin letters with look-alikes, which is a token of its own. */
static void count_run(struct scan *scan, span run) {
    if (size_of(first_code_points(run, MAX_WORD)) < size_of(run))
        return;
    span low = replace_by_form(scan->reader, run, FORM_LOW), bare = replace_by_form(scan->reader, run, FORM_BARE);
    span latin = replace_by_form(scan->reader, run, FORM_LATIN);
    bool has_look_alikes = !is_same(bare, latin) && is_ascii(latin), is_mixed = kinds_of(bare) & LETTER;
    if (has_look_alikes && (is_mixed || looks_latin(scan))) {
        count_piece(scan, latin);
        if (is_mixed)
            count_piece(scan, LITERAL("look-alike"));
        return;
    }
    count_piece(scan, low);
    if (!is_empty(bare) && is_ascii(bare) && !is_same(bare, low))
        count_piece(scan, bare);
}

/* Counts the runs of a part that is not all ASCII. In a script without spaces, words have no visible ends, so each pair
 * of adjacent characters is counted. */
static void count_runs(struct scan *scan, span part) {
    while (!is_empty(part)) {
        span run = span_of(part.at, 0), before = run;
        bool is_unspaced = false;
        for (size_t n = 0; !is_empty(part); n++) {
            span tail = part;
            uint32_t point = next_point(&tail);
            bool has_no_spaces = point >= 0xE00 && character_of(scan->reader, point)->flags & IS_UNSPACED;
            if (n && has_no_spaces != is_unspaced)
                break;
            if (n && has_no_spaces)
                count_piece(scan, span_between(before.at, tail.at));
            is_unspaced = has_no_spaces;
            before = span_between(part.at, tail.at);
            part.at = run.end = tail.at;
        }
        if (!is_unspaced)
            count_run(scan, run);
        else if (before.at == run.at) /* the run is a single character */
            count_piece(scan, run);
    }
}

/* ---- Words ---- */

/* Counts a word as one token, and also its shape if the word has digits. */
static void count_whole_word(struct scan *scan, span word, bool has_digits) {
    word = trim(word, EDGE, ENDS);
    if (is_empty(word) || size_of(word) > MAX_WORD)
        return;
    count_piece(scan, word);
    if (has_digits)
        count_shape(scan, word);
}

/* Counts the parts of a word. If all parts are single letters, as in "f-r-e-e", also counts the word that they make. */
static void count_word_parts(struct scan *scan, span word) {
    size_t n_parts = 0, n_letters = 0;
    span whole = word;
    while (word.at < word.end) {
        span part = word;
        unsigned kinds = 0;
        for (; word.at < word.end && !(KIND[*word.at] & SPLITS); word.at++)
            kinds |= KIND[*word.at];
        part.end = word.at;
        part = trim(part, EDGE, EDGE);
        word = skip_bytes(word, 1);
        if (is_empty(part) || (size_of(part) == 1 && *part.at == '$'))
            continue;
        n_parts++;
        n_letters += size_of(part) == 1;
        if (kinds & NOT_ASCII)
            count_runs(scan, part);
        else if (size_of(part) <= MAX_WORD)
            count_piece(scan, part);
    }
    if (n_letters == n_parts && n_parts > 2 && n_parts <= MAX_WORD)
        count_piece(scan, without_kind(scan->reader, whole, SPLITS));
}

/* Counts a host of at most four labels, and each domain above the host that has two to four labels. If the word is an
 * IPv4 address, counts the address and its networks. A word of letters and digits without dots is not counted, because
 * it may be the number that a server gave to the message. */
static void count_host(struct scan *scan, span word) {
    span host = trim(word, INNER, INNER);
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
        count_piece(scan, host);
    for (const uint8_t *at = host.at; at < host.end && n_dots; at++) {
        if (*at != '.')
            continue;
        n_dots--;
        if (is_address)
            count_piece(scan, span_between(host.at, at));
        else if (n_dots > 0 && n_dots < 4)
            count_piece(scan, span_between(at + 1, host.end));
    }
}

void add_host(struct reader *reader, span prefix, span host) {
    count_host(&(struct scan){.reader = reader, .rule = {prefix, WORD_HOST}}, host);
}

static size_t count_words(span text) {
    size_t n = 0;
    bool was_in_word = false;
    for (const uint8_t *at = text.at; at < text.end; at++) {
        bool is_in_word = KIND[*at] & (IN_WORD | CONTROL);
        n += is_in_word > was_in_word;
        was_in_word = is_in_word;
    }
    return n;
}

/* The words of a text that are counted: the first n_first words, and of the others every so many, so that no beginning
 * of a text uses up the words that are counted of it. */
struct choice {
    size_t n_first, n_others, max_others;
};

static struct choice choose_words(span text, size_t max_words, size_t n_first) {
    size_t n_words = size_of(text) / 2 < max_words ? 0 : count_words(text);
    if (n_words <= max_words)
        return (struct choice){max_words, 0, 0};
    n_first = n_first < max_words ? n_first : max_words;
    return (struct choice){n_first, n_words - n_first, max_words - n_first};
}

/* Returns whether the word with this number is counted, if n words are counted before. */
static bool is_chosen(const struct choice *choice, size_t number, size_t n) {
    return n < choice->n_first ||
           (n < choice->n_first + choice->max_others &&
            (n - choice->n_first) * choice->n_others < choice->max_others * (number - choice->n_first + 1));
}

/* Returns where a run of at least three single letters ends that have the same byte between them, as "v i a g r a"; at
 * itself if no such run begins there. */
static const uint8_t *end_of_spaced_word(span text, const uint8_t *at) {
    const uint8_t *end = at;
    while (end < text.end && KIND[*end] & LETTER && (end + 1 == text.end || !(KIND[end[1]] & (IN_WORD | CONTROL))) &&
           (end == at || end[-1] == at[1]))
        end += 2;
    return end - at > 4 ? end - 1 : at;
}

/* Begins a word. kinds: of its bytes in the text. is_joinable: the word is one of the first max_joined words. */
static void begin_word(struct scan *scan, span word, unsigned kinds, bool is_joinable) {
    scan->n_words++;
    scan->n_capital_words += size_of(word) > 1 && kinds & LETTER && !(kinds & SMALL);
    scan->is_joinable = is_joinable;
    scan->n_pieces = 0;
}

/* Counts a word, in lower case. Returns the number of words that it counts as, because it may have many pieces. */
static size_t count_word(struct scan *scan, span word, unsigned kinds, bool is_joinable) {
    enum word_method method = scan->rule.method;
    begin_word(scan, word, kinds, is_joinable);
    if (!(kinds & ~(IN_WORD | LETTER | SMALL)) && size_of(word) <= MAX_WORD) /* a fast way for most words */
        count_piece(scan, word);
    else if (method == WORD_HOST)
        count_host(scan, word);
    else if (!(kinds & NOT_ASCII) && (method == WORD_WHOLE || (kinds & DIGIT && size_of(word) <= MAX_WORD)))
        count_whole_word(scan, word, kinds & DIGIT);
    else
        count_word_parts(scan, word);
    return scan->n_pieces > FEW_PIECES ? 1 + scan->n_pieces - FEW_PIECES : 1;
}

/* Returns every other byte of a text in lower case: the letters of a spaced word. */
static span join_letters(struct reader *reader, span text) {
    struct writer writer = writer_open(&reader->arena, size_of(text));
    for (; !is_empty(text); text = skip_bytes(text, 2))
        put_byte(&writer, to_lower(*text.at));
    return writer_close(&writer);
}

/* Counts at most max_words words of a text. Returns the number of these words. The first max_joined words are joinable. A
 * control character shows nothing, but may end a word. So a word with controls is counted twice: once without the
 * controls, and once as the words between the controls. So are single letters: as one word, and as the letters. */
static size_t scan_words(struct scan *scan, span text, size_t max_words, size_t max_joined) {
    span low = copy_lower(&scan->reader->arena, text);
    scan->text = low;
    scan->script = NOT_KNOWN;
    struct choice choice = choose_words(text, max_words, max_joined);
    size_t n = 0, number = 0; /* number: of the word in the text */
    const uint8_t *controls_end = text.at; /* before this address, controls end words */
    const uint8_t *letters_end = text.at;  /* before this address are the letters of a word that was counted */
    for (const uint8_t *at = text.at; at < text.end;) {
        const uint8_t *begin = at;
        unsigned kinds = 0, in_words = at < controls_end ? IN_WORD : IN_WORD | CONTROL;
        for (; at < text.end && KIND[*at] & in_words; at++)
            kinds |= KIND[*at];
        if (at == begin) {
            at++;
            continue;
        }
        bool is_new = at > controls_end;
        number += is_new;
        if (!is_chosen(&choice, number - 1, n) || (!is_new && at - begin == 1)) { /* a single letter between controls */
            scan->n_words += is_new;
            continue;
        }
        if (is_new && begin >= letters_end && end_of_spaced_word(text, begin) > at) {
            letters_end = end_of_spaced_word(text, begin);
            n += count_word(scan, join_letters(scan->reader, span_between(begin, letters_end)), kinds, n < max_joined);
        }
        span word = span_of(low.at + (begin - text.at), (size_t)(at - begin));
        if (kinds & CONTROL) {
            word = without_kind(scan->reader, word, CONTROL);
            kinds = kinds_of(word);
            controls_end = at;
            at = begin;
            if (is_empty(word))
                continue;
        }
        n += count_word(scan, word, kinds, n < max_joined);
    }
    scan->is_joinable = false;
    return n < max_words ? n : max_words;
}

/* Counts the first max_words words of a tokenizer, one on each line, as scan_words does for a text. Each is one piece. If
 * it begins with a letter, its first colon is left out: no sender's word may be a token with a prefix. */
static size_t scan_lines(struct scan *scan, span text, size_t max_words, size_t max_joined) {
    size_t n = 0;
    for (span line; n < max_words && next_line(&text, &line);) {
        unsigned kinds = kinds_of(line);
        begin_word(scan, line, kinds, n++ < max_joined);
        span word = truncate_text(replace_by_form(scan->reader, line, FORM_LOW), MAX_TOKEN);
        span beginning = before_first(word, ':');
        if (!is_empty(word) && is_letter(*word.at))
            word = concatenate(&scan->reader->arena, beginning, skip_bytes(span_between(beginning.end, word.end), 1));
        if (!is_empty(word))
            count_piece(scan, word);
    }
    scan->is_joinable = false;
    return n;
}

/* ---- Texts ---- */

/* Returns a text with the characters between a right-to-left override (U+202E) and the end of the override, or of the
 * line, in the order in which they are shown. */
static span reverse_overrides(struct reader *reader, span text) {
    const span override = LITERAL("\u202E"), end = LITERAL("\u202C");
    if (!find(text, override))
        return text;
    struct writer writer = writer_open(&reader->arena, size_of(text));
    for (const uint8_t *at; (at = find(text, override));) {
        put_span(&writer, span_between(text.at, at));
        text.at = at + size_of(override);
        span run = before_first(text, '\n');
        at = find(run, end);
        run.end = at ? at : run.end;
        text.at = run.end;
        while (!is_empty(run)) {
            span last = run;
            do
                last.at = --run.end;
            while (run.end > run.at && (*last.at & 0xC0) == 0x80);
            const uint8_t *character_end = last.end;
            put_span(&writer, span_between(last.at, character_end));
        }
    }
    put_span(&writer, text);
    return writer_close(&writer);
}

/* Returns a text with each character that is not ASCII replaced by its FORM_WORD. */
static span replace_by_word_forms(struct reader *reader, span text) {
    text = reverse_overrides(reader, text);
    for (span tail = skip_ascii(text); !is_empty(tail); tail = skip_ascii(tail))
        if (character_of(reader, next_point(&tail))->flags & COMBINES) {
            text = ask(reader, ASK_COMPOSE, text, (span){0}).text;
            break;
        }
    struct writer writer = writer_open(&reader->arena, size_of(text) + 16);
    while (!is_empty(text)) {
        span tail = skip_ascii(text);
        put_span(&writer, span_between(text.at, tail.at));
        text = tail;
        if (is_empty(tail))
            break;
        uint32_t point = next_point(&text);
        const struct character *character = character_of(reader, point);
        put_span(&writer, character->flags & IS_UNCHANGED ? span_between(tail.at, text.at) : word_form(character));
    }
    return writer_close(&writer);
}

/* Counts the runs of punctuation and symbols in a text. A single ASCII character is counted once in a text. */
static void count_punctuation(struct reader *reader, span prefix, span text) {
    bool is_counted[128] = {false}, is_end = false; /* is_counted: by character */
    uint8_t run[2 + 4 * MAX_RUN_CHARACTERS] = "p:";
    for (size_t n_runs = 0, n = 0, size = 2; !is_end && n_runs < MAX_PUNCTUATION_RUNS;) {
        while (!n && !is_empty(text) && !(KIND[*text.at] & PUNCTUATION))
            text.at++;
        span character = text;
        uint16_t flags = 0;
        is_end = is_empty(text);
        if (!is_end) {
            uint32_t point = next_point(&text);
            flags = point > 127 ? character_of(reader, point)->flags : KIND[point] & PUNCTUATION ? IS_PUNCTUATION : 0;
            character.end = text.at;
        }
        if (flags & IS_PUNCTUATION && n++ < MAX_RUN_CHARACTERS) {
            memcpy(run + size, character.at, size_of(character));
            size += size_of(character);
        } else if (n && !(flags & (IS_PUNCTUATION | IS_INVISIBLE))) {
            bool is_single = size == 3;
            if (!is_single || !is_counted[run[2]]) {
                add_token(reader, prefix, span_of(run, size));
                n_runs++;
            }
            is_counted[run[2] & 127] |= is_single;
            n = 0;
            size = 2;
        }
    }
}

/* Counts each sequence of 2 to n adjacent joinable pieces as one token. */
static void join_words(struct scan *scan, unsigned n) {
    struct arena *arena = &scan->reader->arena;
    for (size_t size = 2; size <= n; size++)
        for (size_t begin = 0; begin + size <= scan->joinable.count; begin++) {
            struct writer writer = writer_open(arena, 64);
            for (size_t i = begin; i < begin + size; i++) {
                if (i > begin)
                    put_byte(&writer, ' ');
                put_span(&writer, scan->joinable.items[i]);
            }
            count_token(scan->reader, writer_close(&writer));
        }
}

void add_words(struct reader *reader, const struct word_rule *rule, span text) {
    struct scan scan = {.reader = reader, .rule = *rule};
    scan_words(&scan, is_ascii(text) ? text : replace_by_word_forms(reader, text), SIZE_MAX, 0);
}

/* The sums from which the mean length of lines and the share of capitals are computed. */
struct layout {
    size_t n_bytes, n_lines, n_capitals;
};

static void read_layout(struct layout *layout, span text) {
    layout->n_capitals += count_capitals(text);
    for (span line; next_line(&text, &line);) {
        layout->n_lines += !is_empty(line);
        layout->n_bytes += size_of(line);
    }
}

/* Counts the words of texts, punctuation, and pairs of the first words in the first n_joined texts. */
static void scan_texts(struct scan *scan, const span_list *texts, size_t n_joined, span prefix) {
    struct reader *reader = scan->reader;
    size_t words_left = MAX_WORDS, joined_left = MAX_JOINED;
    for (size_t i = 0; i < texts->count; i++) {
        span text = texts->items[i];
        count_punctuation(reader, prefix, text);
        if (reader->options.splits)
            text = ask(reader, ASK_SPLIT, text, (span){0}).text;
        if (!is_ascii(text))
            text = replace_by_word_forms(reader, text);
        /* Half of MAX_WORDS is divided evenly among all texts, so that each text is evidence. The other half is for the
         * texts that mail readers show first, because many attached texts would otherwise outvote the letter
         * (docs/experiments.md#shares-of-words). */
        size_t n_others = texts->count - i - 1;
        size_t max_words = words_left - MAX_WORDS / 2 * n_others / texts->count;
        size_t max_joined = i < n_joined ? joined_left - MAX_JOINED / 2 * (n_joined - i - 1) / n_joined : 0;
        size_t n_read = (reader->options.splits ? scan_lines : scan_words)(scan, text, max_words, max_joined);
        words_left -= n_read;
        joined_left -= n_read < max_joined ? n_read : max_joined;
    }
    join_words(scan, reader->options.ngrams);
}

void add_texts(struct reader *reader, const span_list *texts, span prefix) {
    struct scan scan = {.reader = reader, .rule = {LITERAL(""), WORD_PARTS}};
    struct layout layout = {0};
    scan_texts(&scan, texts, texts->count, prefix);
    add_number(reader, prefix, "length:", bit_length(scan.n_words));
    add_number(reader, prefix, "caps:", bit_length(scan.n_capital_words));
    if (!is_empty(prefix))
        return;
    for (size_t i = 0; i < texts->count; i++)
        read_layout(&layout, texts->items[i]);
    add_number(reader, prefix, "line:", bit_length(layout.n_bytes / (layout.n_lines ? layout.n_lines : 1)));
    size_t n_capitals = 64 * layout.n_capitals / (layout.n_bytes ? layout.n_bytes : 1);
    add_number(reader, prefix, "capitals:", bit_length(n_capitals));
}

void add_doubtful_texts(struct reader *reader, const span_list *texts, size_t n_joined) {
    scan_texts(&(struct scan){.reader = reader, .rule = {LITERAL(""), WORD_PARTS}}, texts, n_joined, LITERAL(""));
}
