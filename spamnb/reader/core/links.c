#include "links.h"

#include "reader.h"

#include <arpa/inet.h>

enum { MAX_LABEL = 63, MAX_DECODINGS = 3, MAX_SHOWN = 300, MAX_SCHEME = 31 };

static bool is_slash(uint8_t c) { return c == '/' || c == '\\'; }

static bool is_one_of(span word, const char *words) {
    size_t n = size_of(word);
    for (const char *at = words; n && (at = strchr(at, ' ')); at++)
        if (!strncmp(at + 1, (const char *)word.at, n) && at[1 + n] == ' ')
            return true;
    return false;
}

/* What may not stand in a host. */
static bool is_forbidden(uint8_t c) { return c <= ' ' || c == 127 || strchr("\"#%/:<>?@[\\]^`{|}", c); }

static const uint8_t *authority_end(span text, bool is_special) {
    const uint8_t *at = text.at;
    while (at < text.end && *at != '/' && *at != '?' && *at != '#' && !(is_special && *at == '\\'))
        at++;
    return at;
}

static span percent_decoded(struct arena *arena, span text) {
    struct writer writer = writer_open(arena, size_of(text));
    for (; text.at < text.end; text.at++) {
        int high = *text.at == '%' && size_of(text) > 2 ? hex_value(text.at[1]) : -1;
        int low = high >= 0 ? hex_value(text.at[2]) : -1;
        put_byte(&writer, low >= 0 ? (uint8_t)(high << 4 | low) : *text.at);
        text.at += low >= 0 ? 2 : 0;
    }
    return writer_close(&writer);
}

/* ---- Names in other scripts ---- */

/* The numbers of punycode (RFC 3492). */
enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, FIRST_BIAS = 72, FIRST_POINT = 128 };

static uint32_t adapted(uint32_t delta, uint32_t n_points, bool is_first) {
    uint32_t k = 0;
    delta = is_first ? delta / DAMP : delta / 2;
    delta += delta / n_points;
    for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
        delta /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static uint32_t threshold(uint32_t k, uint32_t bias) { return k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias; }

static void put_punycode(struct writer *writer, span label) {
    uint32_t points[MAX_LABEL], n = FIRST_POINT, delta = 0, bias = FIRST_BIAS;
    uint32_t count = 0, done = 0;
    put_span(writer, LITERAL("xn--"));
    while (label.at < label.end && count < MAX_LABEL)
        points[count++] = next_point(&label);
    for (uint32_t i = 0; i < count; i++)
        if (points[i] < 128) {
            put_byte(writer, (uint8_t)points[i]);
            done++;
        }
    uint32_t n_basic = done;
    if (done)
        put_byte(writer, '-');
    while (done < count) {
        uint32_t next = UINT32_MAX;
        for (uint32_t i = 0; i < count; i++)
            if (points[i] >= n && points[i] < next)
                next = points[i];
        delta += (next - n) * (done + 1); /* at most 0x110000 * 64: no overflow */
        n = next;
        for (uint32_t i = 0; i < count; i++) {
            delta += points[i] < n;
            if (points[i] != n)
                continue;
            uint32_t q = delta;
            for (uint32_t k = BASE;; k += BASE) {
                uint32_t t = threshold(k, bias);
                if (q < t)
                    break;
                uint32_t digit = t + (q - t) % (BASE - t);
                put_byte(writer, (uint8_t)(digit < 26 ? 'a' + digit : '0' + digit - 26));
                q = (q - t) / (BASE - t);
            }
            put_byte(writer, (uint8_t)(q < 26 ? 'a' + q : '0' + q - 26));
            bias = adapted(delta, done + 1, done == n_basic);
            delta = 0;
            done++;
        }
        delta++;
        n++;
    }
}

/* The characters of a label behind "xn--"; how many, 0 where it is no punycode. */
static size_t read_punycode(span label, uint32_t points[MAX_LABEL]) {
    size_t count = 0;
    const uint8_t *dash = find_last(label, '-');
    if (size_of(label) > MAX_HOST_NAME || (dash && dash - label.at > MAX_LABEL - 1))
        return 0;
    for (const uint8_t *at = label.at; dash && at < dash; at++)
        points[count++] = *at;
    if (dash)
        label.at = dash + 1;
    uint64_t n = FIRST_POINT, i = 0;
    uint32_t bias = FIRST_BIAS;
    while (label.at < label.end) {
        uint64_t before = i, weight = 1;
        for (uint32_t k = BASE;; k += BASE) {
            if (label.at == label.end)
                return 0;
            uint8_t c = *label.at++;
            uint32_t digit = is_letter(c) ? (uint32_t)((c | 32) - 'a') : is_digit(c) ? (uint32_t)(c - '0') + 26 : BASE;
            if (digit == BASE)
                return 0;
            i += digit * weight;
            uint32_t t = threshold(k, bias);
            if (digit < t)
                break;
            weight *= BASE - t;
            if (weight > UINT32_MAX || i > UINT32_MAX)
                return 0;
        }
        if (i > UINT32_MAX || count == MAX_LABEL)
            return 0;
        bias = adapted((uint32_t)(i - before), (uint32_t)count + 1, before == 0);
        n += i / (count + 1);
        i %= count + 1;
        if (n > 0x10FFFF)
            return 0;
        memmove(points + i + 1, points + i, (count - i) * sizeof *points);
        points[i++] = (uint32_t)n;
        count++;
    }
    return count;
}

/* Whether a label mixes scripts that no language mixes, as Latin and Cyrillic; those of East Asia may. */
static bool mixes_scripts(struct reader *reader, span label) {
    uint32_t points[MAX_LABEL];
    uint16_t first = 0;
    if (!starts_with(label, LITERAL("xn--")))
        return false;
    size_t count = read_punycode(skip_bytes(label, 4), points);
    for (size_t i = 0; i < count; i++) {
        const struct character *known = character_of(reader, points[i]);
        if (!(known->flags & IS_ALPHA) || known->flags & IS_EAST_ASIAN)
            continue;
        if (first && known->script != first)
            return true;
        first = known->script;
    }
    return false;
}

/* ---- Hosts ---- */

/* A part of an address: hexadecimal behind 0x, octal behind 0, else decimal; −1 where it is none. */
static int64_t address_part(span label) {
    int base = 10;
    uint64_t value = 0;
    if (is_empty(label) || size_of(label) > 40)
        return -1;
    if (starts_with(label, LITERAL("0x"))) {
        base = 16;
        label.at += 2;
    } else if (*label.at == '0' && size_of(label) > 1) {
        base = 8;
        label.at++;
    }
    for (; label.at < label.end; label.at++) {
        int digit = hex_value(*label.at);
        if (digit < 0 || digit >= base)
            return -1;
        value = value > UINT32_MAX ? value : value * (uint64_t)base + (uint64_t)digit;
    }
    return (int64_t)value;
}

/* A host whose last label is a number -> dotted; as it is where it is no address. */
static span dotted_address(struct arena *arena, span host) {
    uint64_t address = 0;
    int n = 0;
    for (span rest = host;; n++) {
        span label = before_first(rest, '.');
        int64_t part = address_part(label);
        bool is_last = label.end == rest.end;
        if (part < 0 || n == 4 || part >= (is_last ? INT64_C(1) << 8 * (4 - n) : 256))
            return host;
        address = is_last ? address + (uint64_t)part : address + ((uint64_t)part << 8 * (3 - n));
        if (is_last)
            break;
        rest.at = label.end + 1;
    }
    struct writer writer = writer_open(arena, 16);
    for (int shift = 24; shift >= 0; shift -= 8) {
        unsigned byte = address >> shift & 255;
        if (byte >= 100)
            put_byte(&writer, (uint8_t)('0' + byte / 100));
        if (byte >= 10)
            put_byte(&writer, (uint8_t)('0' + byte / 10 % 10));
        put_byte(&writer, (uint8_t)('0' + byte % 10));
        if (shift)
            put_byte(&writer, '.');
    }
    return writer_close(&writer);
}

/* An address in brackets in its shortest form, one of IPv4 inside of it dotted; empty where it is none. */
static span ipv6_address(struct arena *arena, span written) {
    char text[INET6_ADDRSTRLEN + 1] = {0}, shortest[INET6_ADDRSTRLEN + 2];
    struct in6_addr address;
    span inside = before_first(before_first(skip_bytes(written, 1), ']'), '%');
    if (size_of(inside) > INET6_ADDRSTRLEN)
        return (span){0};
    memcpy(text, inside.at, size_of(inside));
    if (inet_pton(AF_INET6, text, &address) != 1 || !inet_ntop(AF_INET6, &address, shortest, sizeof shortest))
        return (span){0};
    bool is_mapped = !strncmp(shortest, "::ffff:", 7) && strchr(shortest, '.');
    struct writer writer = writer_open(arena, sizeof shortest + 2);
    if (!is_mapped)
        put_byte(&writer, '[');
    const char *begin = shortest + (is_mapped ? 7 : 0);
    put_span(&writer, span_of(begin, strlen(begin)));
    if (!is_mapped)
        put_byte(&writer, ']');
    return writer_close(&writer);
}

/* A host in another script in labels of punycode; form: what each character becomes before. */
static span host_in_ascii(struct reader *reader, span host, int form) {
    struct arena *arena = &reader->arena;
    struct writer writer = writer_open(arena, 2 * size_of(host));
    while (host.at < host.end) {
        const uint8_t *begin = host.at;
        uint32_t point = next_point(&host);
        bool is_kept = point == 0xDF || point == 0x3C2; /* letters of their own in names, which small letters are not */
        put_span(&writer, is_kept ? span_between(begin, host.at) : form_of(reader, point, form));
    }
    span mapped = writer_close(&writer);
    for (const uint8_t *at = mapped.at; at < mapped.end; at++)
        if (is_forbidden(*at))
            mapped.end = at;
    if (is_ascii(mapped))
        return mapped;
    writer = writer_open(arena, 2 * size_of(mapped));
    for (;;) {
        span label = before_first(mapped, '.');
        if (is_ascii(label))
            put_span(&writer, label);
        else
            put_punycode(&writer, label);
        if (label.end == mapped.end)
            return writer_close(&writer);
        put_byte(&writer, '.');
        mapped.at = label.end + 1;
    }
}

span canonical_host(struct reader *reader, span written) {
    struct arena *arena = &reader->arena;
    if (starts_with(written, LITERAL("[")))
        return ipv6_address(arena, written);
    span host = find_byte(written, '%') ? percent_decoded(arena, written) : written;
    if (size_of(host) > MAX_HOST_NAME) /* its owner stands at the end */
        host.at = host.end - MAX_HOST_NAME;
    if (is_ascii(host)) {
        const uint8_t *at = host.at;
        while (at < host.end && !is_forbidden(*at))
            at++;
        host = lower_copy(arena, span_between(host.at, at));
    } else
        host = host_in_ascii(reader, host, FORM_HOST);
    host = strip_any(host, ".");
    const uint8_t *dot = find_last(host, '.');
    span last = span_between(dot ? dot + 1 : host.at, host.end);
    bool is_number = !is_empty(last);
    for (const uint8_t *at = last.at; at < last.end; at++)
        is_number = is_number && is_digit(*at);
    return is_number || starts_with(last, LITERAL("0x")) ? dotted_address(arena, host) : host;
}

/* What the owner of a host registered: its last two labels, or three under domains such as co.uk. */
static span registrable_domain(span host) {
    const uint8_t *dots[3] = {NULL};
    size_t n = 0;
    for (const uint8_t *at = host.end; at > host.at && n < 3;)
        if (*--at == '.')
            dots[n++] = at;
    if (!n || is_digit(host.end[-1]) || *host.at == '[')
        return host;
    span last = span_between(dots[0] + 1, host.end);
    span second = span_between(n > 1 ? dots[1] + 1 : host.at, dots[0]);
    bool in_country = n > 1 && size_of(last) == 2 &&
                      is_one_of(second, " ac co com edu gob gouv gov ltd mil ne net nom or org plc sch ");
    size_t kept = in_country ? 2 : 1;
    return n > kept ? span_between(dots[kept] + 1, host.end) : host;
}

static bool may_be_a_firms(span suffix) {
    const uint8_t *dot = find_last(suffix, '.');
    span last = span_between(dot ? dot + 1 : suffix.at, suffix.end);
    return is_one_of(suffix, " com net org eu ") || size_of(last) == 2;
}

/* Whether two hosts seem to be of one firm: the same domain, or the same name under domains of countries and firms. */
static bool is_same_owner(span host, span other) {
    host = registrable_domain(host);
    other = registrable_domain(other);
    if (is_same(host, other))
        return true;
    span name = before_first(host, '.'), other_name = before_first(other, '.');
    return is_same(name, other_name) && size_of(name) > 1 && !is_digit(*name.at) && name.end < host.end &&
           other_name.end < other.end && may_be_a_firms(span_between(name.end + 1, host.end)) &&
           may_be_a_firms(span_between(other_name.end + 1, other.end));
}

/* Services that hide where a link leads, and that anyone may use. */
static const char SHORTENERS[] =
    " t.co is.gd bit.ly rb.gy t.ly cutt.ly clck.ru buff.ly 2u.pw urly.fi ln.run bl.ink da.gd goo.gl j.mp lnkd.in n9.cl "
    "ow.ly qrco.de rebrand.ly s.id shorturl.at shrtco.de tiny.cc tiny.one tinyurl.com tr.im u.to v.gd vk.cc x.co ";

unsigned host_tricks(struct reader *reader, span host) {
    unsigned tricks = 0;
    if (is_one_of(registrable_domain(host), SHORTENERS))
        tricks |= TRICK_SHORTENER;
    if (size_of(host) > MAX_HOST)
        tricks |= TRICK_LONG_HOST;
    if (find(host, LITERAL("xn--")))
        for (span rest = host; !is_empty(rest);) {
            span label = before_first(rest, '.');
            if (mixes_scripts(reader, label))
                tricks |= TRICK_MIXED_SCRIPTS;
            rest.at = label.end < rest.end ? label.end + 1 : rest.end;
        }
    return tricks;
}

/* ---- URLs ---- */

/* What stands behind the scheme and its slashes, where a host may begin; false where none can. */
static bool skip_scheme(span *url, bool *is_special) {
    span rest = *url;
    *is_special = true;
    while (rest.at < rest.end && (is_letter(*rest.at) || (rest.at > url->at && (is_digit(*rest.at) || *rest.at == '+' ||
           *rest.at == '.' || *rest.at == '-'))) && rest.at - url->at < MAX_SCHEME)
        rest.at++;
    span scheme = span_between(url->at, rest.at);
    bool is_www = starts_with_any_case(*url, LITERAL("www."));
    if (is_empty(scheme) || is_empty(rest) || *rest.at != ':') {
        if (size_of(*url) > 1 && is_slash(url->at[0]) && is_slash(url->at[1])) {
            while (url->at < url->end && is_slash(*url->at))
                url->at++;
            return true;
        }
        return is_www;
    }
    rest.at++;
    if (is_same_any_case(scheme, LITERAL("file"))) {
        if (size_of(rest) < 3 || !is_slash(rest.at[0]) || !is_slash(rest.at[1]) || is_slash(rest.at[2]))
            return false;
        url->at = rest.at + 2;
        return true;
    }
    if (is_same_any_case(scheme, LITERAL("http")) || is_same_any_case(scheme, LITERAL("https")) ||
        is_same_any_case(scheme, LITERAL("ftp")) || is_same_any_case(scheme, LITERAL("ws")) ||
        is_same_any_case(scheme, LITERAL("wss"))) {
        while (rest.at < rest.end && is_slash(*rest.at))
            rest.at++;
        *url = rest;
        return true;
    }
    if (is_www && find_byte(scheme, '.')) /* www.example.org:80 */
        return true;
    *is_special = false;
    if (!starts_with(rest, LITERAL("//")))
        return false;
    url->at = rest.at + 2;
    return true;
}

static span without_port(span host) {
    span rest = host;
    while (rest.end > rest.at && is_digit(rest.end[-1]))
        rest.end--;
    if (rest.end > rest.at && rest.end[-1] == ':')
        return span_between(host.at, rest.end - 1);
    return host;
}

static span behind_user(span authority) {
    const uint8_t *at = find_last(authority, '@');
    return at ? span_between(at + 1, authority.end) : authority;
}

static void add_target(struct reader *reader, struct link *link, span written) {
    span host = canonical_host(reader, without_port(behind_user(written)));
    if (is_empty(host) || link->n_targets == MAX_TARGETS)
        return;
    for (size_t i = 0; i < link->n_targets; i++)
        if (is_same(link->targets[i], host))
            return;
    link->targets[link->n_targets++] = host;
}

/* Where a URL inside begins, behind its slashes: with its scheme, or where a value begins; NULL where there is none. */
static const uint8_t *find_target(span text, span *rest) {
    for (const uint8_t *at = text.at; at < text.end; at++) {
        span here = span_between(at, text.end);
        if ((*at | 32) == 'h' && starts_with_any_case(here, LITERAL("http"))) {
            const uint8_t *colon = at + 4 + (size_of(here) > 4 && (at[4] | 32) == 's');
            if (text.end - colon > 1 && *colon == ':' && is_slash(colon[1])) {
                const uint8_t *begin = colon + 1;
                while (begin < text.end && begin - colon < 4 && is_slash(*begin))
                    begin++;
                rest->at = begin;
                return begin;
            }
        }
        if (*at == '=' && size_of(here) > 2 && is_slash(at[1]) && is_slash(at[2])) {
            rest->at = at + 3;
            return at + 3;
        }
        if (*at == '=' && starts_with_any_case(skip_bytes(here, 1), LITERAL("www."))) {
            rest->at = at + 5;
            return at + 1;
        }
    }
    return NULL;
}

/* The hosts of the URLs in what follows a host, as it stands and percent-decoded. */
static void add_targets(struct reader *reader, struct link *link, span rest) {
    const uint8_t *dashed = find_any_case(rest, LITERAL("u=http"));
    if (dashed && dashed > rest.at && (dashed[-1] == '?' || dashed[-1] == '&')) { /* Proofpoint's second form */
        span url = before_first(span_between(dashed + 2, rest.end), '&');
        if (find_any_case(url, LITERAL("-3a__"))) {
            struct writer writer = writer_open(&reader->arena, size_of(rest));
            put_span(&writer, span_between(rest.at, url.at));
            for (const uint8_t *at = url.at; at < url.end; at++)
                put_byte(&writer, *at == '-' ? '%' : *at == '_' ? '/' : *at);
            put_span(&writer, span_between(url.end, rest.end));
            rest = writer_close(&writer);
        }
    }
    for (int i = 0; i < MAX_DECODINGS && link->n_targets < MAX_TARGETS; i++) {
        span left = rest;
        const uint8_t *begin;
        while (link->n_targets < MAX_TARGETS && (begin = find_target(left, &left))) {
            span authority = first_bytes(span_between(begin, rest.end), MAX_HOST_NAME);
            authority.end = authority_end(authority, true);
            for (const uint8_t *at = authority.at; at < authority.end; at++)
                if (is_space(*at) || strchr("&<>\"'|", *at))
                    authority.end = at;
            add_target(reader, link, authority);
        }
        if (!find_byte(rest, '%'))
            break;
        rest = percent_decoded(&reader->arena, rest);
    }
}

/* Google's AMP: the page's URL is the path. */
static void add_mirrored(struct reader *reader, struct link *link, span rest) {
    static const char *const BEGINNINGS[] = {"/amp/", "/c/", "/i/", "/v/"};
    if (!ends_with(link->host, LITERAL(".ampproject.org")) && !starts_with(link->host, LITERAL("google.")) &&
        !starts_with(link->host, LITERAL("www.google.")))
        return;
    for (size_t i = 0; i < COUNT_OF(BEGINNINGS); i++) {
        span beginning = span_of(BEGINNINGS[i], strlen(BEGINNINGS[i])), url = rest;
        if (!starts_with(url, beginning))
            continue;
        url = skip_bytes(url, size_of(beginning));
        if (starts_with(url, LITERAL("s/")))
            url.at += 2;
        url.end = authority_end(url, false);
        if (find_byte(url, '.'))
            add_target(reader, link, url);
        return;
    }
}

struct link read_link(struct reader *reader, span url) {
    struct link link = {0};
    struct arena *arena = &reader->arena;
    url = first_characters(url, MAX_URL);
    while (url.at < url.end && *url.at <= ' ')
        url.at++;
    while (url.at < url.end && url.end[-1] <= ' ')
        url.end--;
    if (find_byte(url, '\n') || find_byte(url, '\t') || find_byte(url, '\r')) {
        struct writer writer = writer_open(arena, size_of(url));
        for (; url.at < url.end; url.at++)
            if (*url.at != '\n' && *url.at != '\t' && *url.at != '\r')
                put_byte(&writer, *url.at);
        url = writer_close(&writer);
    }
    bool is_special;
    if (!skip_scheme(&url, &is_special)) {
        add_targets(reader, &link, url);
        return link;
    }
    span authority = span_between(url.at, authority_end(url, is_special)), rest = span_between(authority.end, url.end);
    span written = without_port(behind_user(authority));
    if (behind_user(authority).at > authority.at + 1)
        link.tricks |= TRICK_USER;
    link.host = canonical_host(reader, written);
    add_targets(reader, &link, rest);
    add_mirrored(reader, &link, rest);
    if (!is_empty(link.host) && !is_same_any_case(written, link.host) && !starts_with(written, LITERAL("["))) {
        if (size_of(written) > MAX_HOST_NAME)
            written.at = written.end - MAX_HOST_NAME;
        for (const uint8_t *at = written.at; at < written.end; at++)
            if (is_forbidden(*at) && *at != '%')
                written.end = at;
        span plain = strip_any(written, ".");
        if (!is_ascii(plain))
            plain = host_in_ascii(reader, plain, FORM_LOW); /* capitals are no disguise */
        if (!is_same_any_case(plain, link.host))
            link.tricks |= TRICK_DISGUISED;
    }
    for (size_t i = 0; i < link.n_targets; i++)
        if (!is_empty(link.host) && !is_same_owner(link.host, link.targets[i]))
            link.tricks |= TRICK_REDIRECTOR;
    return link;
}

/* ---- Links that show another host than they lead to ---- */

/* What a name without http or www has to end with. A file has a name with a dot in it too. */
static bool is_domain_ending(span ending) {
    if (is_one_of(ending, " app biz cloud com dev edu gov info int io mil net online org shop site store xyz "))
        return true;
    bool is_country = size_of(ending) == 2 && is_letter(ending.at[0]) && is_letter(ending.at[1]);
    return (is_country && !is_one_of(ending, " cc md ps py rs sh so ")) || starts_with(ending, LITERAL("xn--"));
}

/* A text in which what poses as a host is written plainly: other scripts' dots and letters. */
static span plainly_written(struct reader *reader, span text) {
    if (is_ascii(text))
        return text;
    struct writer writer = writer_open(&reader->arena, 2 * size_of(text));
    while (text.at < text.end) {
        uint32_t point = next_point(&text);
        if (point < 128 || !(character_of(reader, point)->flags & IS_SPACE))
            put_span(&writer, form_of(reader, point, FORM_HOST));
        else
            put_byte(&writer, ' ');
    }
    return writer_close(&writer);
}

static bool ends_shown_url(uint8_t c) { return is_space(c) || strchr("/\\?#<>\"'()", c); }

/* Whether a name may begin with "www." here. */
static bool is_at_begin(span text, const uint8_t *at) {
    if (at == text.at)
        return true;
    uint8_t c = at[-1];
    return !(is_letter(c) || is_digit(c) || c >= 0x80 || c == '_' || c == '.' || c == '@' || c == '-');
}

/* The first host that a text names: behind http:// or from www on, else what the text begins with; empty for none. */
static span shown_host(struct reader *reader, span text) {
    text = plainly_written(reader, first_characters(text, MAX_SHOWN));
    for (const uint8_t *at = text.at; at < text.end; at++) {
        span here = span_between(at, text.end);
        const uint8_t *begin = NULL;
        if ((*at | 32) == 'h' && starts_with_any_case(here, LITERAL("http"))) {
            const uint8_t *colon = at + 4 + (size_of(here) > 4 && (at[4] | 32) == 's');
            if (text.end - colon > 2 && *colon == ':' && is_slash(colon[1]))
                for (begin = colon + 1; begin < text.end && begin - colon < 4 && is_slash(*begin);)
                    begin++;
        } else if ((*at | 32) == 'w' && starts_with_any_case(here, LITERAL("www.")) && is_at_begin(text, at))
            begin = at;
        if (!begin)
            continue;
        const uint8_t *end = begin;
        while (end < text.end && *end && !ends_shown_url(*end))
            end++;
        span written = before_first(behind_user(span_between(begin, end)), ':');
        while (!is_empty(written) && strchr(".,;:!", written.end[-1]))
            written.end--;
        if (end > begin)
            return canonical_host(reader, written);
    }
    span name = strip(text);
    const uint8_t *end = name.at;
    while (end < name.end && (is_letter(*end) || is_digit(*end) || *end >= 0x80 || *end == '_' || *end == '-' ||
                              (*end == '.' && end > name.at && end + 1 < name.end && end[1] != '.')))
        end++;
    if (end < name.end && !is_space(*end) && *end != '/' && *end != ':' && *end != '?' && *end != '#')
        return (span){0};
    name.end = end;
    if (!find_byte(name, '.') || *name.at == '.' || name.end[-1] == '.')
        return (span){0};
    span host = canonical_host(reader, name);
    const uint8_t *dot = find_last(host, '.');
    return is_domain_ending(span_between(dot ? dot + 1 : host.at, host.end)) ? host : (span){0};
}

bool is_link_mismatch(struct reader *reader, span shown, span url) {
    if (!find_byte(shown, '.') && is_ascii(shown)) /* most links' texts */
        return false;
    span host = shown_host(reader, shown);
    if (is_empty(host))
        return false;
    struct link link = read_link(reader, url);
    bool is_other = !is_empty(link.host) && !is_same_owner(host, link.host);
    for (size_t i = 0; i < link.n_targets; i++)
        is_other = is_other && !is_same_owner(host, link.targets[i]);
    return is_other;
}
