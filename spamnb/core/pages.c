/* sqlite.org/fileformat2.html describes pages in section 1.6, and records in section 2.1. A table is a tree of pages.
 * Here it has two levels, a root and leaves, or only the root. */
#include "interface.h"

#include <stdbool.h>
#include <string.h>

enum { LEAF = 13, INTERIOR = 5 };                            /* kinds of pages */
enum { LEAF_HEADER = 8, INTERIOR_HEADER = 12, POINTER = 2 }; /* bytes */
enum { ROOT_PAGE = 2 };                                     /* the root's number in the file */
enum { NULL_TYPE = 0, BLOB_TYPE = 12, TEXT_TYPE = 13 };
enum { MAX_LOCAL = PAGE_SIZE - 35 }; /* bytes of a record that fits into a page */
enum { MAX_VARINT = 9 };             /* bytes */

size_t pack_numbers(const int64_t *numbers, size_t n, uint8_t *packed, int64_t *ends) {
    uint8_t *at = packed;
    for (size_t i = 0; i < n; i++) {
        uint64_t number = (uint64_t)numbers[i];
        for (; number > 127; number >>= 7)
            *at++ = (uint8_t)(number | 128);
        *at++ = (uint8_t)number;
        ends[i] = at - packed;
    }
    return (size_t)(at - packed);
}

static uint8_t *put_number(uint8_t *at, uint64_t number, size_t size) {
    for (size_t i = size; i-- > 0; number >>= 8)
        at[i] = (uint8_t)number;
    return at + size;
}

/* Writes a number with 7 bits in a byte, the highest first. If it has more than 56 bits, the ninth byte has 8 of
 * them. */
static uint8_t *put_varint(uint8_t *at, uint64_t number) {
    size_t size = 1;
    if (number >> 56) {
        at[MAX_VARINT - 1] = (uint8_t)number;
        number >>= 8;
        for (size_t i = MAX_VARINT - 1; i-- > 0; number >>= 7)
            at[i] = (uint8_t)(number | 128);
        return at + MAX_VARINT;
    }
    while (number >> 7 * size)
        size++;
    for (size_t i = size; i-- > 0; number >>= 7)
        at[i] = (uint8_t)((number & 127) | (i < size - 1 ? 128 : 0));
    return at + size;
}

/* A page that is being filled: pointers to its cells after the header, and the cells from its end. */
struct page {
    uint8_t *at;
    size_t header, n_cells, content;
};

static struct page new_page(uint8_t *at, size_t header) { return (struct page){at, header, 0, PAGE_SIZE}; }

/* Returns the memory for a cell of this size; NULL if the page has no room. */
static uint8_t *new_cell(struct page *page, size_t size) {
    size_t pointers_end = page->header + POINTER * (page->n_cells + 1);
    if (pointers_end + size > page->content)
        return NULL;
    page->content -= size;
    put_number(page->at + pointers_end - POINTER, page->content, POINTER);
    page->n_cells++;
    return page->at + page->content;
}

static void put_header(const struct page *page, uint8_t kind) {
    page->at[0] = kind;
    put_number(page->at + 3, page->n_cells, 2);
    put_number(page->at + 5, page->content, 2);
}

/* Adds row i to a leaf; false if the leaf has no room. A cell is the size of the record, the hash as its key, and the
 * record. The record is the types of the columns hash, token, month, cells and vector, and the values of token and
 * cells; the other values are NULL. */
static bool add_row(struct page *leaf, const struct token_rows *rows, size_t i) {
    size_t text_size = (size_t)rows->lengths[i], cells_size = (size_t)(rows->bounds[i + 1] - rows->bounds[i]);
    uint8_t types[4 + 2 * MAX_VARINT], *types_end = types + 1, key[2 * MAX_VARINT];
    *types_end++ = NULL_TYPE; /* because the hash is the key */
    types_end = put_varint(types_end, TEXT_TYPE + 2 * text_size);
    *types_end++ = NULL_TYPE;
    types_end = put_varint(types_end, BLOB_TYPE + 2 * cells_size);
    *types_end++ = NULL_TYPE;
    size_t types_size = (size_t)(types_end - types), size = types_size + text_size + cells_size;
    types[0] = (uint8_t)types_size;
    if (size > MAX_LOCAL)
        return false;
    size_t key_size = (size_t)(put_varint(put_varint(key, size), (uint64_t)rows->hashes[i]) - key);
    uint8_t *at = new_cell(leaf, key_size + size);
    if (!at)
        return false;
    memcpy(at, key, key_size);
    memcpy(at += key_size, types, types_size);
    memcpy(at += types_size, rows->text + rows->offsets[i], text_size);
    memcpy(at + text_size, rows->cells + rows->bounds[i], cells_size);
    return true;
}

size_t lay_out_rows(const struct token_rows *rows, uint8_t *pages, size_t n_pages) {
    struct page root = new_page(pages, INTERIOR_HEADER);
    for (size_t i = 0, n = 1; n < n_pages; n++) {
        struct page leaf = new_page(pages + n * PAGE_SIZE, LEAF_HEADER);
        while (i < rows->n && add_row(&leaf, rows, i))
            i++;
        put_header(&leaf, LEAF);
        if (i == rows->n && n == 1) {
            memcpy(pages, leaf.at, PAGE_SIZE);
            return 1;
        }
        if (i == rows->n) {
            put_header(&root, INTERIOR);
            put_number(pages + 8, ROOT_PAGE + n, 4);
            return n + 1;
        }
        uint8_t key[MAX_VARINT], *cell = NULL;
        size_t key_size = (size_t)(put_varint(key, (uint64_t)rows->hashes[i ? i - 1 : 0]) - key);
        if (!leaf.n_cells || !(cell = new_cell(&root, 4 + key_size)))
            return 0;
        memcpy(put_number(cell, ROOT_PAGE + n, 4), key, key_size);
    }
    return 0;
}
