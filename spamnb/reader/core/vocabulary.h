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

enum { MAX_PENDING = 64, NO_TOKEN = UINT32_MAX };

/* A token's id is the order in which it was first met. Two tokens are the same where all 64 bits of a keyed hash are.
 *
 * Tokens of a row wait until there are some: meanwhile the memory that looking them up needs is fetched.
 */
struct vocabulary {
    uint64_t key[2];
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

/* All of these return false, or NO_TOKEN, where there is no memory. */
bool vocabulary_begin(struct vocabulary *vocabulary, const uint64_t key[2]);
void vocabulary_free(struct vocabulary *vocabulary);
/* The id of a token; a new one where it has none yet. */
uint32_t vocabulary_id(struct vocabulary *vocabulary, span token);
span vocabulary_text(const struct vocabulary *vocabulary, uint32_t id);
/* The hash of a token in a model file. It is computed once. */
uint64_t vocabulary_file_hash(struct vocabulary *vocabulary, uint32_t id);
/* Counts the tokens that wait. */
bool row_count(struct vocabulary *vocabulary);
/* Ends the row at hand; size: how many different tokens it has. */
bool row_end(struct vocabulary *vocabulary, uint32_t *size);

static inline bool row_add(struct vocabulary *vocabulary, span text) {
    struct token token = {fast_hash(vocabulary->key, text), text};
    if (vocabulary->n_pending == MAX_PENDING && !row_count(vocabulary))
        return false;
    __builtin_prefetch(&vocabulary->slots[token.hash & vocabulary->slot_mask]);
    vocabulary->pending[vocabulary->n_pending++] = token;
    return true;
}

/* Forgets the row at hand. */
static inline void row_give_up(struct vocabulary *vocabulary) {
    vocabulary->n_pending = 0;
    vocabulary->n_cells = vocabulary->row_begin;
}
