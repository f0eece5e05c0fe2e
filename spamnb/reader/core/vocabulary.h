/* Tokens and their ids, both ways, and messages as rows of (id, occurrences). */
#ifndef SPAMNB_VOCABULARY_H
#define SPAMNB_VOCABULARY_H

#include "bytes.h"

struct cell {
    uint32_t id, count;
};

/* What is known of a token. Where last_cell lies within the row at hand, the row has the token there: so a row needs no
 * table of its own, and nothing is emptied between rows (a sparse set, Briggs and Torczon 1993). */
struct token_entry {
    uint64_t hash;
    uint32_t last_cell;
};

/* A token that waits to be counted. */
struct pending_token {
    uint64_t hash;
    uint32_t begin, size;
    bool only_once;
};

enum { MAX_PENDING = 48, MAX_PENDING_BYTES = 1 << 14, MAX_TOKEN = 1 << 13 };

/* A token's id is the order in which it was first met. Slots are chosen by a keyed hash, so a sender cannot fill
 * neighbouring ones; two tokens are the same where all 64 bits of it are.
 *
 * Tokens of a row wait until there are some: then the memory that looking them up needs is fetched for all at once.
 */
struct vocabulary {
    uint64_t key[2];
    struct token_entry *entries;
    size_t *ends; /* of each token's text; it begins where the one before ends */
    uint32_t *slots; /* id + 1; 0 is free */
    size_t n_tokens, entry_room, end_room, slot_mask;
    uint8_t *text;
    size_t text_room;
    struct cell *cells;
    size_t n_cells, row_begin, cell_room;
    size_t n_pending, n_pending_bytes;
    struct pending_token pending[MAX_PENDING];
    uint8_t pending_text[MAX_PENDING_BYTES];
};

enum { NO_TOKEN = UINT32_MAX };

/* All of these return false, or NO_TOKEN, where there is no memory. */
bool vocabulary_begin(struct vocabulary *vocabulary, const uint64_t key[2]);
void vocabulary_free(struct vocabulary *vocabulary);
/* The id of a token; a new one where it has none yet. */
uint32_t vocabulary_id(struct vocabulary *vocabulary, span token);
/* The id of a token, NO_TOKEN where it has none. */
uint32_t vocabulary_find(const struct vocabulary *vocabulary, span token);
span vocabulary_text(const struct vocabulary *vocabulary, uint32_t id);
/* Counts what waits; false where there is no memory. */
bool row_count(struct vocabulary *vocabulary);
/* Where the next token of the row may be written, up to MAX_TOKEN bytes; NULL where there is no memory. */
static inline uint8_t *row_token(struct vocabulary *vocabulary) {
    bool is_full = vocabulary->n_pending == MAX_PENDING || vocabulary->n_pending_bytes > MAX_PENDING_BYTES - MAX_TOKEN;
    return is_full && !row_count(vocabulary) ? NULL : vocabulary->pending_text + vocabulary->n_pending_bytes;
}
/* Counts the token of so many bytes that was written there; where only_once, its first occurrence alone. */
void row_add(struct vocabulary *vocabulary, size_t size, bool only_once);
/* Forgets the row at hand. */
static inline void row_give_up(struct vocabulary *vocabulary) {
    vocabulary->n_pending = vocabulary->n_pending_bytes = 0;
    vocabulary->n_cells = vocabulary->row_begin;
}
/* Ends the row at hand; size: how many different tokens it has. */
bool row_end(struct vocabulary *vocabulary, size_t *size);

#endif
