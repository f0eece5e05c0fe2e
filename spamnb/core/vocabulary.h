/* The tokens that were read, each with an id, and the rows of messages. A row has the ids of a message's tokens, each
 * with the number of its occurrences. */
#pragma once

#include "hash.h"

/* A slot of the hash table. If the cell with the index last_cell is in the current row and has this id, it is the
 * token's cell in the row; otherwise the row does not have the token yet. So no table has to be emptied between rows (a
 * sparse set, Briggs and Torczon 1993). */
struct slot {
    uint64_t hash;
    uint32_t number; /* id + 1; 0: the slot is free */
    uint32_t last_cell;
};

/* A pending token. Its text must stay in memory until row_add_pending; then the text of a new token is copied. */
struct token {
    uint64_t hash;
    span text;
};

/* A token that has an id. */
struct token_record {
    size_t end;         /* of its text, which begins at the end of the record before */
    uint64_t file_hash; /* the token's hash in model files; 0 until it is computed */
};

enum { MAX_PENDING = 64 }; /* tokens: 1.5 kB, which stay in the fastest cache of the processor */

/* A vocabulary and its rows. Ids number the tokens in the order in which they were added. Two texts are the same token
 * if all 64 bits of their fast_hash are the same; the texts are not compared.
 *
 * A token of the current row is pending at first, while the processor fetches its slot from memory. When MAX_PENDING
 * tokens are pending, row_add_pending looks them up.
 */
struct vocabulary {
    struct slot *slots;
    struct token_record *records;
    size_t n_tokens, record_room, slot_mask;
    uint8_t *text;
    size_t text_room;
    struct cell *cells;
    size_t n_cells, row_begin, cell_room;
    size_t doubtful_begin; /* of the current row; 0 while its plain tokens are added */
    struct token pending[MAX_PENDING];
    size_t n_pending;
};

span vocabulary_text(const struct vocabulary *vocabulary, uint32_t id);
/* Returns the file_hash of the token with this id. The hash is computed when it is first needed. */
uint64_t vocabulary_file_hash(struct vocabulary *vocabulary, uint32_t id);
/* Adds the pending tokens to the current row; false if there is too little memory. */
bool row_add_pending(struct vocabulary *vocabulary);
/* Ends the plain tokens of the current row. The tokens that follow are doubtful; a token that is also plain is not
 * counted again. Returns false if there is too little memory. */
bool row_end_plain(struct vocabulary *vocabulary);
/* Ends the current row, and writes the number of its distinct tokens, and how many of them are plain: these are the
 * first ones. Returns false if there is too little memory. */
bool row_end(struct vocabulary *vocabulary, uint32_t *size, uint32_t *n_plain);

/* Adds an occurrence of a token to the current row; false if there is too little memory. */
static inline bool row_add(struct vocabulary *vocabulary, span text) {
    struct token token = {fast_hash(SECRET, text), text};
    if (vocabulary->n_pending == MAX_PENDING && !row_add_pending(vocabulary))
        return false;
    __builtin_prefetch(&vocabulary->slots[token.hash & vocabulary->slot_mask]);
    vocabulary->pending[vocabulary->n_pending++] = token;
    return true;
}
