/* Tokens and their ids, and messages as rows of (id, occurrences). */
#pragma once

#include "hash.h"

struct cell {
    uint32_t id, count;
};

/* A slot of the hash table. If last_cell is within the current row and has this id, the row has the token there: so a row
 * needs no table, and nothing is emptied between rows (a sparse set, Briggs and Torczon 1993). */
struct slot {
    uint64_t hash;
    uint32_t number; /* id + 1; 0: the slot is free */
    uint32_t last_cell;
};

/* A token of the current row. Its text must stay in place until the row ends; the text of a new token is copied. */
struct token {
    uint64_t hash;
    span text;
};

/* A token that has an id. */
struct token_record {
    size_t end;         /* of its text, which begins at the end of the text before */
    uint64_t file_hash; /* 0 until it is computed */
};

enum { MAX_PENDING = 64 };

/* Ids number the tokens in the order in which they were added. Two tokens are the same if all 64 bits of their keyed
 * hashes are.
 *
 * The tokens of a row are looked up MAX_PENDING at a time, after the processor has fetched the slots of all of them.
 */
struct vocabulary {
    struct slot *slots;
    struct token_record *records;
    size_t n_tokens, record_room, slot_mask;
    uint8_t *text;
    size_t text_room;
    struct cell *cells;
    size_t n_cells, row_begin, cell_room;
    struct token pending[MAX_PENDING];
    size_t n_pending;
};

/* Makes an empty vocabulary; NULL without memory. */
struct vocabulary *vocabulary_new(void);
void vocabulary_delete(struct vocabulary *vocabulary);
size_t vocabulary_size(const struct vocabulary *vocabulary);
/* Writes the ids of n tokens, which follow one another in the text; new tokens get new ids. False without memory. */
bool vocabulary_ids(struct vocabulary *vocabulary, const uint8_t *text, const uint32_t *lengths, size_t n, uint32_t *ids);
span vocabulary_text(const struct vocabulary *vocabulary, uint32_t id);
/* Write the lengths of the tokens with these ids, and their texts, one after the other. */
void vocabulary_lengths(const struct vocabulary *vocabulary, const uint32_t *ids, size_t n, uint32_t *lengths);
void vocabulary_texts(const struct vocabulary *vocabulary, const uint32_t *ids, size_t n, uint8_t *at);
/* Returns the hash of a token in model files. It is computed once. */
uint64_t vocabulary_file_hash(struct vocabulary *vocabulary, uint32_t id);
/* Returns the cells of all rows, and their number. */
const struct cell *vocabulary_cells(const struct vocabulary *vocabulary, size_t *n);
/* Removes all rows, with the current one. */
void vocabulary_forget_rows(struct vocabulary *vocabulary);
/* Counts the pending tokens; false without memory. */
bool row_count(struct vocabulary *vocabulary);
/* Ends the current row; size: its distinct tokens. */
bool row_end(struct vocabulary *vocabulary, uint32_t *size);

/* Adds a token to the current row; false without memory. */
static inline bool row_add(struct vocabulary *vocabulary, span text) {
    struct token token = {fast_hash(SECRET, text), text};
    if (vocabulary->n_pending == MAX_PENDING && !row_count(vocabulary))
        return false;
    __builtin_prefetch(&vocabulary->slots[token.hash & vocabulary->slot_mask]);
    vocabulary->pending[vocabulary->n_pending++] = token;
    return true;
}
