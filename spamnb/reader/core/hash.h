/* Three hashes: SipHash for slots in memory, FNV-1a as model files keep it, BLAKE2b for a message's digest. */
#ifndef SPAMNB_HASH_H
#define SPAMNB_HASH_H

#include "bytes.h"

static inline uint64_t rotate_left(uint64_t x, int n) { return x << n | x >> (64 - n); }

#define SIP_ROUND                                                                  \
    do {                                                                           \
        v0 += v1, v1 = rotate_left(v1, 13) ^ v0, v0 = rotate_left(v0, 32);         \
        v2 += v3, v3 = rotate_left(v3, 16) ^ v2;                                   \
        v0 += v3, v3 = rotate_left(v3, 21) ^ v0;                                   \
        v2 += v1, v1 = rotate_left(v1, 17) ^ v2, v2 = rotate_left(v2, 32);         \
    } while (0)

/* SipHash-1-3 (Aumasson and Bernstein 2012). Who does not know the key cannot make two texts meet on purpose. */
static inline uint64_t siphash(const uint64_t key[2], span text) {
    uint64_t v0 = key[0] ^ UINT64_C(0x736f6d6570736575), v1 = key[1] ^ UINT64_C(0x646f72616e646f6d);
    uint64_t v2 = key[0] ^ UINT64_C(0x6c7967656e657261), v3 = key[1] ^ UINT64_C(0x7465646279746573);
    uint64_t last = (uint64_t)size_of(text) << 56;
    for (; size_of(text) >= 8; text.at += 8) {
        uint64_t word = load_64(text.at);
        v3 ^= word;
        SIP_ROUND;
        v0 ^= word;
    }
    size_t n = size_of(text);
    if (n >= 4) /* the tail without a loop: two loads that may overlap */
        last |= load_32(text.at) | (uint64_t)load_32(text.end - 4) << 8 * (n - 4);
    else if (n)
        last |= text.at[0] | (uint64_t)text.at[n / 2] << 8 * (n / 2) | (uint64_t)text.at[n - 1] << 8 * (n - 1);
    v3 ^= last;
    SIP_ROUND;
    v0 ^= last;
    v2 ^= 0xff;
    for (int i = 0; i < 3; i++)
        SIP_ROUND;
    return v0 ^ v1 ^ v2 ^ v3;
}

/* FNV-1a, its bits mixed: the hash of a token in a model file (see tokens/token_array.py). */
uint64_t file_hash(span text);

enum { DIGEST = 16 };

struct digest_state {
    uint64_t h[8], n_bytes;
    uint8_t buffer[128];
    size_t n_buffered;
};

/* BLAKE2b of 16 bytes (RFC 7693). */
void digest_begin(struct digest_state *state);
void digest_add(struct digest_state *state, span text);
void digest_end(struct digest_state *state, uint8_t digest[DIGEST]);

#endif
