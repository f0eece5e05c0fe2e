#define _GNU_SOURCE /* memmem */
#include "bytes.h"

const uint8_t *find(span s, span what) {
    if (size_of(what) > 8)
        return size_of(s) < size_of(what) ? NULL : memmem(s.at, size_of(s), what.at, size_of(what));
    for (; (s.at = find_byte(s, *what.at)); s.at++)
        if (starts_with(s, what))
            return s.at;
    return NULL;
}

const uint8_t *find_any_case(span s, span lower) {
    for (; size_of(s) >= size_of(lower); s.at++)
        if (to_lower(*s.at) == *lower.at && starts_with_any_case(s, lower))
            return s.at;
    return NULL;
}

span behind_ascii(span s) {
    while (size_of(s) >= 8 && !(load_64(s.at) & UINT64_C(0x8080808080808080)))
        s.at += 8;
    while (s.at < s.end && *s.at < 0x80)
        s.at++;
    return s;
}

bool is_ascii(span s) {
    const uint64_t high = UINT64_C(0x8080808080808080);
    uint64_t bits = 0;
    for (; size_of(s) >= 8; s.at += 8)
        bits |= load_64(s.at) & high;
    for (; s.at < s.end; s.at++)
        bits |= *s.at & 0x80;
    return !bits;
}

bool is_one_of(span word, const char *words) {
    span rest = span_of(words, strlen(words));
    while (!is_empty(rest)) {
        span one = before_first(rest, ' ');
        if (!is_empty(one) && is_same(one, word))
            return true;
        rest = skip_bytes(rest, size_of(one) + 1);
    }
    return false;
}
