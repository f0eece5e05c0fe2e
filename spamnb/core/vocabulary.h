/* Tokens and their ids, both ways, and messages as rows of (id, occurrences). */
#pragma once

#include "hash.h"

struct cell {
    uint32_t id, count;
};

/* Where a token's id is found. Where last_cell lies within the row at hand, the row has the token there: so a row needs
 * no table of its own, and nothing is emptied between rows (a sparse set, Briggs and Torczon 1993). */
struct slot {
    uint64_t hash;
    uint32_t number; /* id + 1; 0 where the slot is free */
    uint32_t last_cell;
};

/* A token of the row at hand. Its text must stay where it is until the row ends, and is copied only where it is new. */
struct token {
    uint64_t hash;
    span text;
};

/* A token that has an id. */
struct known_token {
    size_t end;         /* of its text, which begins where that of the token before ends */
    uint64_t file_hash; /* 0 until somebody asks for it */
};

enum { MAX_PENDING = 64 };

/* A token's id is the order in which it was first met. Two tokens are the same where all 64 bits of a keyed hash are.
 *
 * Tokens of a row wait until there are some: meanwhile the memory that looking them up needs is fetched.
 */
struct vocabulary {
    struct slot *slots;
    struct known_token *known;
    size_t n_tokens, known_room, slot_mask;
    uint8_t *text;
    size_t text_room;
    struct cell *cells;
    size_t n_cells, row_begin, cell_room;
    struct token pending[MAX_PENDING];
    size_t n_pending;
};

/* NULL without memory. */
struct vocabulary *vocabulary_new(void);
void vocabulary_delete(struct vocabulary *vocabulary);
size_t vocabulary_size(const struct vocabulary *vocabulary);
/* The ids of n tokens, which stand in the text one after the other; new ones for those that have none. False without
 * memory. */
bool vocabulary_ids(struct vocabulary *vocabulary, const uint8_t *text, const uint32_t *lengths, size_t n, uint32_t *ids);
span vocabulary_text(const struct vocabulary *vocabulary, uint32_t id);
/* The tokens with these ids, one after the other. */
void vocabulary_lengths(const struct vocabulary *vocabulary, const uint32_t *ids, size_t n, uint32_t *lengths);
void vocabulary_texts(const struct vocabulary *vocabulary, const uint32_t *ids, size_t n, uint8_t *at);
/* The hash of a token in a model file. It is computed once. */
uint64_t vocabulary_file_hash(struct vocabulary *vocabulary, uint32_t id);
/* The cells of all rows that were read, and their number. */
const struct cell *vocabulary_cells(const struct vocabulary *vocabulary, size_t *n);
/* Forgets all rows, the one at hand too. */
void vocabulary_forget_rows(struct vocabulary *vocabulary);
/* Counts the tokens that wait; false without memory. */
bool row_count(struct vocabulary *vocabulary);
/* Ends the row at hand; size: how many different tokens it has. */
bool row_end(struct vocabulary *vocabulary, uint32_t *size);

static inline bool row_add(struct vocabulary *vocabulary, span text) {
    struct token token = {fast_hash(SECRET, text), text};
    if (vocabulary->n_pending == MAX_PENDING && !row_count(vocabulary))
        return false;
    __builtin_prefetch(&vocabulary->slots[token.hash & vocabulary->slot_mask]);
    vocabulary->pending[vocabulary->n_pending++] = token;
    return true;
}
