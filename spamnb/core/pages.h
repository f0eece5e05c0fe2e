/* Rows of table "tokens" of a model, in the format of SQLite's files. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PAGE_SIZE = 1 << 16 }; /* bytes: SQLite's largest page */

/* Packs n numbers, none negative, with 7 bits in a byte, the lowest first. Bytes above 127 are not the last byte of a
 * number. packed has room for 9 bytes for each number. Writes where each number ends. Returns the number of bytes. */
size_t pack_numbers(const int64_t *numbers, size_t n, uint8_t *packed, int64_t *ends);

/* n rows, one or more, ascending by hash. Row i has the text of lengths[i] bytes at offsets[i], and the cells between
 * bounds[i] and bounds[i + 1]. */
struct token_rows {
    const int64_t *hashes, *offsets, *bounds;
    const int32_t *lengths;
    const uint8_t *text, *cells;
    size_t n;
};

/* Writes the pages of a table with these rows. pages: n_pages pages of zeros; the first of them is page 2 of the file.
 * Returns the number of pages in use; 0 if n_pages are too few, or if a row is too long for a page. */
size_t lay_out_rows(const struct token_rows *rows, uint8_t *pages, size_t n_pages);
