#define _DEFAULT_SOURCE /* inet_aton */
#include "links.h"

#include "reader.h"
#include "transfer.h"

#include <arpa/inet.h>

enum { MAX_HOST_NAME = 255, MAX_DECODINGS = 3, MAX_SHOWN = 300 };

static span last_label(span host) {
    const uint8_t *dot = find_last(host, '.');
    return span_between(dot ? dot + 1 : host.at, host.end);
}

/* ---- Hosts ---- */

/* Whether a label mixes scripts that no language mixes, as Latin and Cyrillic; those of East Asia may. */
static bool mixes_scripts(struct reader *reader, span host) {
    uint16_t first = 0;
    while (!is_empty(host)) {
        uint32_t point = next_point(&host);
        const struct character *known = character_of(reader, point);
        if (point == '.')
            first = 0;
        if (!(known->flags & IS_ALPHA) || known->flags & IS_EAST_ASIAN)
            continue;
        if (first && known->script != first)
            return true;
        first = known->script;
    }
    return false;
}

/* A host whose last label is a number -> dotted, as "0x7f.1" too; as it is where it is no address. */
static span dotted_address(struct arena *arena, span host) {
    char written[MAX_HOST + 1] = {0}, dotted[INET_ADDRSTRLEN];
    struct in_addr address;
    if (size_of(host) > MAX_HOST)
        return host;
    memcpy(written, host.at, size_of(host));
    if (!inet_aton(written, &address) || !inet_ntop(AF_INET, &address, dotted, sizeof dotted))
        return host;
    return arena_copy(arena, span_of(dotted, strlen(dotted)));
}

/* A host by the mapping of UTS 46, in small letters and plain ones. */
static span plainly_written(struct reader *reader, span text, bool *is_disguised) {
    struct writer writer = writer_open(&reader->arena, 2 * size_of(text));
    while (!is_empty(text)) {
        uint32_t point = next_point(&text);
        span form = form_of(reader, point, FORM_HOST);
        *is_disguised = *is_disguised || !is_same(form, form_of(reader, point, FORM_LOW));
        put_span(&writer, form);
    }
    return writer_close(&writer);
}

/* A host as it is written in a URL -> the name or address that it is, up to the first byte that no host has. */
static span canonical_host(struct reader *reader, span written, bool *is_disguised) {
    struct arena *arena = &reader->arena;
    span host = first_characters(written, MAX_HOST_NAME);
    if (find_byte(host, '%')) {
        host = percent_decoded(arena, host);
        *is_disguised = true;
    }
    host = is_ascii(host) ? lower_copy(arena, host) : plainly_written(reader, host, is_disguised);
    for (const uint8_t *at = host.at; at < host.end; at++)
        if (*at <= ' ' || *at == 127 || strchr("\"#%/:<>?@[\\]^`{|}", *at))
            host.end = at;
    host = strip_any(host, ".");
    if (is_empty(host))
        return host;
    if (find(host, LITERAL("xn--")))
        return ask_host(reader, ASK_LETTERS, host, (span){0});
    if (!is_digit(*last_label(host).at)) /* "0x7f" begins with a digit, too */
        return host;
    span address = dotted_address(arena, host);
    *is_disguised = *is_disguised || !is_same(address, host);
    return address;
}

/* What the owner of a host registered: its last two labels, or three under domains such as co.uk. */
static span registrable_domain(span host) {
    span last = last_label(host);
    if (last.at == host.at || is_digit(host.end[-1]))
        return host;
    span second = last_label(span_between(host.at, last.at - 1));
    if (second.at > host.at && size_of(last) == 2 &&
        is_one_of(second, " ac co com edu gob gouv gov ltd mil ne net nom or org plc sch "))
        second = last_label(span_between(host.at, second.at - 1));
    return span_between(second.at, host.end);
}

static bool may_be_a_firms(span suffix) {
    return is_one_of(suffix, " com net org eu ") || size_of(last_label(suffix)) == 2;
}

/* Whether two hosts seem to be of one firm: the same domain, or the same name under domains of countries and firms. */
static bool is_same_owner(span host, span other) {
    host = registrable_domain(host);
    other = registrable_domain(other);
    if (is_same(host, other))
        return true;
    span name = before_first(host, '.');
    size_t n = size_of(name) + 1;
    return n > 2 && !is_digit(*name.at) && is_same(name, before_first(other, '.')) &&
           may_be_a_firms(skip_bytes(host, n)) && may_be_a_firms(skip_bytes(other, n));
}

/* Services that hide where a link leads, and that anyone may use. */
static const char SHORTENERS[] =
    " t.co is.gd bit.ly rb.gy t.ly cutt.ly clck.ru buff.ly 2u.pw urly.fi ln.run bl.ink da.gd goo.gl j.mp lnkd.in n9.cl "
    "ow.ly qrco.de rebrand.ly s.id shorturl.at shrtco.de tiny.cc tiny.one tinyurl.com tr.im u.to v.gd vk.cc x.co ";

unsigned host_tricks(struct reader *reader, span host) {
    return (is_one_of(registrable_domain(host), SHORTENERS) ? TRICK_SHORTENER : 0) |
           (!is_ascii(host) && mixes_scripts(reader, host) ? TRICK_MIXED_SCRIPTS : 0);
}

/* ---- URLs ---- */

/* What stands behind the scheme and its slashes, where a host may begin; empty where none can. */
static span behind_scheme(span url) {
    span rest = first_bytes(url, MAX_SCHEME);
    while (rest.at < rest.end && (is_letter(*rest.at) || is_digit(*rest.at) || *rest.at == '+' || *rest.at == '-'))
        rest.at++;
    span scheme = span_between(url.at, rest.at);
    bool has_scheme = !is_empty(scheme) && !is_empty(rest) && *rest.at == ':';
    if (!has_scheme && starts_with_any_case(url, LITERAL("www.")))
        return url;
    rest = span_between(has_scheme ? rest.at + 1 : url.at, url.end);
    bool is_web = starts_with_any_case(scheme, LITERAL("http")) || is_same_any_case(scheme, LITERAL("ftp"));
    if (!(has_scheme && is_web) && (size_of(rest) < 2 || !is_slash(rest.at[0]) || !is_slash(rest.at[1])))
        return span_of(url.end, 0);
    while (rest.at < rest.end && is_slash(*rest.at))
        rest.at++;
    return rest;
}

/* A host as it is written at the beginning of a text: without user and port; moves the text behind it. */
static span take_authority(span *text, bool *has_user) {
    span authority = *text;
    while (text->at < text->end && !is_slash(*text->at) && (*text->at > '?' || !strchr("?#&<>\"' ", *text->at)))
        text->at++;
    authority.end = text->at;
    const uint8_t *user_end = find_last(authority, '@');
    *has_user = user_end != NULL;
    return before_first(span_between(user_end ? user_end + 1 : authority.at, authority.end), ':');
}

/* The hosts of the URLs in what follows a host. */
static void add_targets(struct reader *reader, struct link *link, span rest) {
    for (int i = 0; i < MAX_DECODINGS && find_byte(rest, '%'); i++)
        rest = percent_decoded(&reader->arena, rest);
    const uint8_t *at;
    while (link->n_targets < MAX_TARGETS && (at = find_any_case(rest, LITERAL("http")))) {
        span target = behind_scheme(span_between(at, rest.end));
        rest.at = at + 4;
        if (is_empty(target) || !is_slash(target.at[-1]))
            continue;
        bool ignored = false;
        span host = canonical_host(reader, take_authority(&target, &ignored), &ignored);
        if (!is_empty(host))
            link->targets[link->n_targets++] = host;
        rest.at = target.at;
    }
}

/* A URL without blanks, line ends and controls. */
static span trimmed_url(struct arena *arena, span url) {
    struct writer writer = writer_open(arena, size_of(url));
    for (; url.at < url.end; url.at++)
        if (*url.at > ' ')
            put_byte(&writer, *url.at);
    return writer_close(&writer);
}

struct link read_link(struct reader *reader, span url) {
    struct link link = {0};
    bool has_user, is_disguised = false;
    url = trimmed_url(&reader->arena, first_characters(url, MAX_URL));
    span rest = behind_scheme(url);
    link.host = canonical_host(reader, take_authority(&rest, &has_user), &is_disguised);
    link.tricks = (has_user ? TRICK_USER : 0) | (is_disguised ? TRICK_DISGUISED : 0);
    add_targets(reader, &link, is_empty(link.host) ? url : rest);
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
    return !is_ascii(ending) || (is_country && !is_one_of(ending, " cc md ps py rs sh so "));
}

/* The first host that a text names: behind http:// or from www on, else what the text begins with; empty for none. */
static span shown_host(struct reader *reader, span text) {
    bool has_user, ignored = false;
    text = strip(first_characters(text, MAX_SHOWN));
    if (!is_ascii(text))
        text = strip(plainly_written(reader, text, &ignored));
    const uint8_t *at = find(text, LITERAL("://"));
    if (!at)
        at = find_any_case(text, LITERAL("www."));
    span rest = span_between(at ? at : text.at, text.end);
    if (at && *at == ':')
        rest.at += 3;
    for (const uint8_t *end = rest.at; end < rest.end; end++)
        if (is_space(*end) || strchr("(),;!", *end))
            rest.end = end;
    span host = canonical_host(reader, take_authority(&rest, &has_user), &ignored);
    if (!find_byte(host, '.') || (!at && (has_user || !is_domain_ending(last_label(host)))))
        return (span){0};
    return host;
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
