/* Feeds mutated messages to the core, built with sanitizers: fuzz SECONDS SEED MESSAGES FILE... It knows nothing of
 * Python: a program of its own answers what the core asks for, badly on purpose. tests/reader/fuzzing.py builds it. */
#include "reader.h"
#include "tags.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct tables tables;
static uint16_t single_bytes[256];
static uint64_t state;

static uint64_t next_random(void) { /* splitmix64 */
    uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static size_t below(size_t n) { return n ? next_random() % n : 0; }

static _Noreturn void die(const char *why) {
    fprintf(stderr, "%s\n", why);
    abort();
}

/* ---- The program around ---- */

/* Each character becomes itself, but for some that become nothing, or much. */
static const struct page *make_page(struct host *host, uint32_t number) {
    (void)host;
    enum { ROOM = 40 * PAGE };
    struct page *page = calloc(1, sizeof *page + ROOM);
    size_t used = 0;
    if (!page)
        die("no memory");
    for (uint32_t i = 0; i < PAGE; i++) {
        uint32_t point = number * PAGE + i;
        struct character *known = &page->characters[i];
        bool is_sign = point % 7 == 3;
        known->flags = is_sign ? IS_MARK_OR_SIGN : IN_WORDS | IS_ALPHA | IS_WORD_CHARACTER;
        known->flags |= (uint16_t)((point % 11 == 5 ? IS_UPPER : IS_LOWER) | (point % 97 == 1 ? COMBINES : 0) |
                                   (point % 89 == 2 ? IS_SPACE : 0) | (point > 0x3000 ? IS_UNSPACED : 0));
        known->script = (uint16_t)(1 + point % 3);
        for (int form = 0; form < N_FORMS; form++) {
            known->offset[form] = (uint16_t)used;
            if (is_sign && form == FORM_WORD)
                page->text[used++] = ' ';
            else if (point % 101 != 7)
                for (int n = 0; n < (point % 103 == 9 ? 8 : 1) && used + 4 < ROOM && used < 60000; n++)
                    used += write_point(page->text + used, point);
            known->size[form] = (uint8_t)(used - known->offset[form]);
        }
    }
    atomic_store(&tables.pages[number], page);
    return page;
}

static bool find_codec(struct host *host, span name, struct codec *codec) {
    (void)host;
    codec->kind = (enum codec_kind)(size_of(name) % 4);
    codec->points = single_bytes;
    return true;
}

/* Text that is valid: what the core hands over, cut at a character, or something else. */
static bool ask(struct host *host, enum ask what, span text, span other, struct arena *arena, span *answer) {
    (void)host;
    (void)other;
    static const uint8_t VALID[] = "d\xC3\xA4 \xE5\x90\x8D <b>";
    if (what == ASK_SIGNED || what == ASK_UUDECODE)
        *answer = arena_copy(arena, first_bytes(text, below(size_of(text) + 1)));
    else if (what == ASK_COMPOSE || what == ASK_STEM)
        *answer = arena_copy(arena, first_characters(text, below(size_of(text) + 1)));
    else
        *answer = arena_copy(arena, span_of(VALID, sizeof VALID - 1));
    return true;
}

static bool open_attachment(struct host *host, enum shown_as as, span octets, size_t most, struct arena *arena,
                            opened_list *found) {
    (void)host;
    for (size_t n = below(4); n && most; n--) {
        struct opened *opened = LIST_ADD(arena, found);
        *opened = (struct opened){.role = (enum opened_role)below(5), .as = below(2) ? AS_HTML : AS_TEXT};
        span copy = arena_copy(arena, octets);
        opened->octets = as == AS_TEXT && opened->role == OPENED_SAME_TEXT ? copy : first_bytes(copy, below(300));
        opened->octets = opened->role == OPENED_LINK || opened->role == OPENED_SAME_TEXT
                             ? first_bytes(LITERAL("http://a.example/%41"), below(20))
                             : opened->octets;
        if (as == AS_TEXT && opened->role == OPENED_TEXT)
            opened->octets = LITERAL("no more files");
        opened->part.content_type = opened->part.filename = LITERAL("a/b.c");
    }
    return true;
}

static bool split(struct host *host, span text, struct arena *arena, span_list *words) {
    (void)host;
    while (!is_empty(text)) {
        span word = before_first(text, ' ');
        *LIST_ADD(arena, words) = arena_copy(arena, word);
        text.at = word.end < text.end ? word.end + 1 : text.end;
    }
    return true;
}

static struct host program = {make_page, find_codec, ask, open_attachment, split};

/* ---- Mutations ---- */

struct seed {
    uint8_t *bytes;
    size_t size;
};

static const char *const PIECES[] = {
    "<style>.a{display:none}</style>", "<p class=a style='", "{", "}", "\"", "'", "<table><tr>", "</b>", "<b><div>",
    "=?utf-8?q?", "=?iso-8859-1?b?", "?=", "\n--", "--\n", "\nContent-Type: multipart/mixed; boundary=b\n\n--b\n", "\n\n",
    "&#x", "&amp", "&nGt;", "<!--", "-->", "<title>", "</title>", "<textarea>", "http://", "www.", "%2e", "@", ":", ";",
    "\nbegin 644 a\n", "url(", "\\", "/*", "*/", "font-size:2e1px", "!important", "@media screen{", "\xE2\x80\xAE",
    "\xF0\x9D\x92\xB6", "\xED\xA0\x80", "\xFF\xFE", "=3D", "=\n", "charset=", "Content-Transfer-Encoding: base64\n",
    "xn--a-", "[::1]", "0x7f.1", "filename*0*=", "<select><option>", "<body text=white>", "<a href=//x.example>", "\t",
    "<svg><image xlink:href=x>", "\r", "V i a g r a", "v.i.a.g.r.a", "<form><p>", "<plaintext>", "=====", "begin ",
};

static size_t mutate(uint8_t *bytes, size_t size, size_t room, const struct seed *other) {
    for (size_t n = 1 + below(12); n; n--) {
        size_t at = below(size + 1), length = below(40), from = below(size + 1);
        uint8_t piece[64];
        const uint8_t *insert = piece;
        switch (below(6)) {
        case 0:
            if (at < size)
                bytes[at] = (uint8_t)next_random();
            continue;
        case 1: /* leave out */
            length = length > size - at ? size - at : length;
            memmove(bytes + at, bytes + at + length, size - at - length);
            size -= length;
            continue;
        case 2: /* repeat */
            length = length > size - from ? size - from : length;
            memcpy(piece, bytes + from, length);
            break;
        case 3: /* another message's */
            from = below(other->size + 1);
            length = below(400);
            length = length > other->size - from ? other->size - from : length;
            insert = other->bytes + from;
            break;
        default:
            insert = (const uint8_t *)PIECES[below(COUNT_OF(PIECES))];
            length = strlen((const char *)insert);
        }
        if (length > room - size)
            continue;
        memmove(bytes + at + length, bytes + at, size - at);
        memcpy(bytes + at, insert, length);
        size += length;
    }
    return size;
}

/* ---- What must hold ---- */

static void check_texts(const span_list *texts) {
    for (size_t i = 0; i < texts->count; i++)
        if (valid_utf8(texts->items[i]) != size_of(texts->items[i]))
            die("a text is no UTF-8");
}

static void check(const struct reader *reader, size_t n_tokens) {
    const struct message *message = &reader->message;
    check_texts(&message->texts);
    check_texts(&message->attached);
    check_texts(&message->values);
    check_texts(&message->hidden);
    const struct vocabulary *tokens = reader->vocabulary;
    for (size_t id = n_tokens; id < tokens->n_tokens; id++) {
        span token = vocabulary_text(tokens, (uint32_t)id);
        if (valid_utf8(token) != size_of(token)) {
            fwrite(token.at, 1, size_of(token), stderr);
            die(" is no UTF-8");
        }
    }
}

static struct seed read_seed(const char *path) {
    struct seed seed = {malloc(1 << 16), 0};
    FILE *file = fopen(path, "rb");
    if (!file || !seed.bytes)
        die("a seed cannot be read");
    seed.size = fread(seed.bytes, 1, 1 << 16, file);
    fclose(file);
    return seed;
}

int main(int argc, char **argv) {
    enum { ROOM = 1 << 17 };
    if (argc < 5)
        die("fuzz SECONDS SEED MESSAGES FILE...");
    double seconds = atof(argv[1]);
    state = strtoull(argv[2], NULL, 10);
    unsigned long long most = strtoull(argv[3], NULL, 10), done = 0;
    int n_seeds = argc - 4;
    struct seed *seeds = calloc((size_t)n_seeds, sizeof *seeds);
    uint8_t *buffer = malloc(ROOM);
    struct reader *reader = calloc(1, sizeof *reader);
    struct vocabulary *vocabulary = malloc(sizeof *vocabulary);
    struct header_rule rules[] = {
        {LITERAL("subject"), false, false, HOW_TEXT, EXTRA_SUBJECT, LITERAL("")},
        {LITERAL("from"), false, false, HOW_NAMES, EXTRA_SENDER, LITERAL("sender")},
        {LITERAL("date"), false, false, HOW_PRESENCE, EXTRA_DATE, LITERAL("")},
        {LITERAL("message-id"), false, false, HOW_PRESENCE, EXTRA_MESSAGE_ID, LITERAL("")},
        {LITERAL("received"), false, false, HOW_RECEIVED, EXTRA_NOTHING, LITERAL("")},
        {LITERAL("dkim-signature"), false, false, HOW_SIGNATURE, EXTRA_NOTHING, LITERAL("")},
        {LITERAL("x-spam-"), true, true, HOW_IGNORED, EXTRA_NOTHING, LITERAL("")},
    };
    struct rule_table table = {.rules = rules, .n_rules = COUNT_OF(rules), .other = {.how = HOW_NAMES}};
    const uint64_t key[2] = {1, 2};
    for (int i = 0; i < n_seeds; i++)
        seeds[i] = read_seed(argv[4 + i]);
    for (int i = 0; i < 256; i++)
        single_bytes[i] = (uint16_t)(i == 0x81 ? 0xFFFF : i < 128 ? i : i + 0x300);
    if (!buffer || !reader || !vocabulary || !vocabulary_begin(vocabulary, key) ||
        !references_begin(&tables.references, 8))
        die("no memory");
    references_add(&tables.references, (struct reference){LITERAL("amp"), LITERAL("&")});
    references_add(&tables.references, (struct reference){LITERAL("amp;"), LITERAL("&")});
    references_add(&tables.references, (struct reference){LITERAL("nGt;"), LITERAL("\xE2\x89\xAB\xE2\x83\x92")});
    words_begin();
    tags_begin();
    reader->tables = &tables;
    reader->rules = &table;
    reader->host = &program;
    reader->vocabulary = vocabulary;
    clock_t begin = clock();
    for (; done < most && (double)(clock() - begin) / CLOCKS_PER_SEC < seconds; done++) {
        const struct seed *seed = &seeds[below((size_t)n_seeds)];
        memcpy(buffer, seed->bytes, seed->size);
        size_t size = mutate(buffer, seed->size, ROOM, &seeds[below((size_t)n_seeds)]);
        uint8_t *exact = malloc(size ? size : 1); /* one byte too far is seen */
        if (!exact)
            die("no memory");
        memcpy(exact, buffer, size);
        reader->options = (struct options){(unsigned)(1 + below(3)), below(8) == 0, below(16) == 0, below(16) == 0};
        size_t n_tokens = vocabulary->n_tokens, n_row;
        static const unsigned WANTS[] = {WANT_ROW, WANT_ROW | WANT_DIGEST, WANT_ROW | WANT_IDENTITY, WANT_BODY | WANT_FIELDS};
        enum failure failure = read_message(reader, span_of(exact, size), WANTS[below(COUNT_OF(WANTS))]);
        if (failure) {
            FILE *file = fopen("failed-message", "wb");
            if (file) {
                fwrite(exact, 1, size, file);
                fclose(file);
            }
            die(failure == FAILED_MEMORY ? "memory" : failure == FAILED_ASSERTION ? "assertion" : "host");
        }
        if (!row_end(vocabulary, &n_row))
            die("no memory for the row");
        check(reader, n_tokens);
        free(exact);
        vocabulary->row_begin = 0;
        row_give_up(vocabulary);
        if (vocabulary->n_tokens > 200000) {
            vocabulary_free(vocabulary);
            if (!vocabulary_begin(vocabulary, key))
                die("no memory");
        }
    }
    for (int i = 0; i < n_seeds; i++)
        free(seeds[i].bytes);
    for (size_t i = 0; i < N_PAGES; i++)
        free((void *)(uintptr_t)atomic_load(&tables.pages[i]));
    arena_free(&reader->arena);
    vocabulary_free(vocabulary);
    free(tables.references.slots);
    free(vocabulary), free(reader), free(buffer), free(seeds);
    printf("%llu messages\n", done);
    return 0;
}
