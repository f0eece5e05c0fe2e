/* Two hash functions: a fast one with a secret key for tables in memory, and BLAKE2b for model files and digests. */
#pragma once

#include "bytes.h"

/* Returns the exclusive or of both halves of a 128-bit product. */
static inline uint64_t folded_product(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low_high = a_low * b_high, high_low = a_high * b_low, low = a_low * b_low;
    uint64_t middle = (low >> 32) + (uint32_t)low_high + high_low;
    return ((uint32_t)low | middle << 32) ^ (a_high * b_high + (low_high >> 32) + (middle >> 32));
#endif
}

/* Returns a text of at most eight bytes as a number. */
static inline uint64_t load_tail(span text) {
    size_t n = size_of(text);
    if (n == 8)
        return load_64(text.at);
    if (n >= 4) /* the two loads may overlap */
        return load_32(text.at) | (uint64_t)load_32(text.end - 4) << 8 * (n - 4);
    if (!n)
        return 0;
    return text.at[0] | (uint64_t)text.at[n / 2] << 8 * (n / 2) | (uint64_t)text.at[n - 1] << 8 * (n - 1);
}

/* The key of all hash tables. Each process has a new one, so that a sender cannot choose tokens that fill one slot. */
extern uint64_t SECRET[2];

static inline uint64_t fast_hash(const uint64_t key[2], span text) {
    uint64_t hash = key[1], size = size_of(text);
    for (; size_of(text) > 8; text.at += 8)
        hash = folded_product(hash ^ load_64(text.at), key[0]);
    return folded_product(hash ^ load_tail(text), key[1] + size);
}

/* Hashes a text in lower case, so that texts that differ only in case have the same hash. */
static inline uint64_t hash_any_case(const uint64_t key[2], span text) {
    uint64_t hash = key[1];
    for (; text.at < text.end; text.at++)
        hash = folded_product(hash ^ to_lower(*text.at), key[0]);
    return hash;
}

/* Returns the hash that stands for a token in model files: the first eight bytes of the token's digest. */
uint64_t file_hash(span token);

/* Writes the BLAKE2b digest of a text, without a key (RFC 7693). */
void digest_of(span text, uint8_t digest[DIGEST]);
