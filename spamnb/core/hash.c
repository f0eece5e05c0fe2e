#include "hash.h"

uint64_t SECRET[2];

static uint64_t rotate_right(uint64_t x, int n) { return x >> n | x << (64 - n); }

static const uint64_t BLAKE2B_IV[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
    UINT64_C(0xa54ff53a5f1d36f1), UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

static const uint8_t BLAKE2B_ORDER[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline void blake2b_mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x, uint64_t y) {
    *a += *b + x, *d = rotate_right(*d ^ *a, 32);
    *c += *d, *b = rotate_right(*b ^ *c, 24);
    *a += *b + y, *d = rotate_right(*d ^ *a, 16);
    *c += *d, *b = rotate_right(*b ^ *c, 63);
}

static void compress(uint64_t h[8], uint64_t n_bytes, const uint8_t block[128], bool is_last) {
    uint64_t v[16], m[16];
    for (int i = 0; i < 16; i++)
        m[i] = load_64(block + 8 * i);
    for (int i = 0; i < 8; i++) {
        v[i] = h[i];
        v[8 + i] = BLAKE2B_IV[i];
    }
    v[12] ^= n_bytes; /* v[13] has the high half of n_bytes, which is 0 below 2^64 bytes */
    if (is_last)
        v[14] = ~v[14];
#pragma GCC unroll 12 /* so that the order of the words is known to the compiler, and the words stay in registers */
    for (int round = 0; round < 12; round++) {
        const uint8_t *order = BLAKE2B_ORDER[round % 10];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            blake2b_mix(&v[i], &v[i + 4], &v[i + 8], &v[i + 12], m[order[2 * i]], m[order[2 * i + 1]]);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            blake2b_mix(&v[i], &v[4 + (i + 1) % 4], &v[8 + (i + 2) % 4], &v[12 + (i + 3) % 4], m[order[2 * i + 8]],
                        m[order[2 * i + 9]]);
    }
    for (int i = 0; i < 8; i++)
        h[i] ^= v[i] ^ v[8 + i];
}

void digest_of(span text, uint8_t digest[DIGEST]) {
    uint64_t h[8], n_bytes = 0;
    uint8_t last[128] = {0};
    memcpy(h, BLAKE2B_IV, sizeof h);
    h[0] ^= 0x01010000 ^ DIGEST;
    for (; size_of(text) > 128; text.at += 128) {
        n_bytes += 128;
        compress(h, n_bytes, text.at, false);
    }
    if (!is_empty(text))
        memcpy(last, text.at, size_of(text));
    compress(h, n_bytes + size_of(text), last, true);
    for (int i = 0; i < DIGEST; i++)
        digest[i] = (uint8_t)(h[i / 8] >> 8 * (i % 8));
}

uint64_t file_hash(span token) {
    uint8_t digest[DIGEST];
    digest_of(token, digest);
    return load_64(digest);
}
