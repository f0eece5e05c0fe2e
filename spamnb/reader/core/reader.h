/* What one call of the reader has: its memory, its tables, the program around it, and the message at hand. */
#pragma once

#include "arena.h"
#include "evidence.h"
#include "message.h"
#include "references.h"
#include "unicode.h"
#include "vocabulary.h"

#include <stdatomic.h>

/* What Python hands over once; the same for all readers, and never freed. */
struct tables {
    _Atomic(const struct page *) pages[N_PAGES]; /* made when they are first needed */
    struct reference_table references;
    uint64_t secret[2]; /* of hash tables: a sender cannot choose the slots of his tokens */
};

/* What is asked of the program around: for a text, another one. */
enum ask {
    ASK_DECODE,   /* octets and a charset -> UTF-8 */
    ASK_COMPOSE,  /* UTF-8 -> UTF-8 with composed letters */
    ASK_STEM,     /* a word -> its stem */
    ASK_SPLIT,    /* a text -> its words, a line each */
    ASK_UUDECODE, /* a uuencoded body -> octets */
    ASK_LETTERS   /* a host -> the same with the letters that its labels of punycode stand for */
};

/* What the program finds in a document, or in a text that has files in it. */
struct opened {
    span rest, entity; /* the text without its files; an entity of MIME, empty where there is none */
    bool is_whole;     /* nothing was left out */
};

/* The program around. Each function returns false, or NULL, where it failed: then the message is given up. What they
 * hand over is copied into the arena. They may be called by several threads, each with a host of its own. */
struct host {
    const struct page *(*make_page)(struct host *host, uint32_t number);
    bool (*ask)(struct host *host, enum ask what, span text, span other, struct arena *arena, span *answer);
    bool (*open)(struct host *host, enum shown_as as, span octets, struct arena *arena, struct opened *opened);
};

struct options {
    unsigned ngrams; /* the first words are joined to tokens of up to so many */
    bool body_only;
    bool stems;  /* words are stemmed, by ASK_STEM */
    bool splits; /* words are found by ASK_SPLIT */
};

struct reader {
    struct arena arena;
    const struct tables *tables;
    const struct rule_table *rules;
    struct options options;
    struct host *host;
    struct vocabulary *vocabulary;
    struct message message;
};

/* What the program around answers; the message is given up where it fails. */
static inline span ask_host(struct reader *reader, enum ask what, span text, span other) {
    span answer;
    if (!reader->host->ask(reader->host, what, text, other, &reader->arena, &answer))
        arena_fail(&reader->arena, FAILED_HOST);
    return answer;
}
