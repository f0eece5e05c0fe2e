/* The hosts of links, read from URLs as browsers read them. */
#define _DEFAULT_SOURCE /* inet_aton */
#include "reader.h"

#include <arpa/inet.h>

enum {
    MAX_SCHEME = 31, /* bytes; the longest in ordinary mail has 16 */
    MAX_URLS = 1000, /* of a message; ordinary mail: 312. 1 MB of links would have 30,000 tokens of hosts */
};

static bool is_slash(uint8_t c) { return c == '/' || c == '\\'; }

/* Returns an IPv4 address such as "0x7f.1" in dotted form, "127.0.0.1"; returns a host that is no address unchanged. */
static span dotted_address(struct arena *arena, span host) {
    char text[MAX_HOST + 1] = {0}, dotted[INET_ADDRSTRLEN];
    struct in_addr address;
    if (size_of(host) > MAX_HOST)
        return host;
    memcpy(text, host.at, size_of(host));
    if (!inet_aton(text, &address) || !inet_ntop(AF_INET, &address, dotted, sizeof dotted))
        return host;
    return arena_copy(arena, span_of(dotted, strlen(dotted)));
}

/* Returns the name or the address of the host in a URL. The host ends at the first byte that no host may contain. */
static span canonical_host(struct reader *reader, span text) {
    struct arena *arena = &reader->arena;
    span host = truncate_text(text, 3 * MAX_HOST); /* each letter may have three bytes: "%61" */
    if (find_byte(host, '%'))
        host = decode_percents(arena, host);
    host = copy_lower(arena, host);
    if ((!is_ascii(host) || find(host, LITERAL("xn--"))) && may_ask(reader))
        host = ask(reader, ASK_HOST, host, (span){0}).text;
    host.end = host.at + valid_utf8_size(host); /* percent-encoded bytes may be invalid UTF-8 */
    for (const uint8_t *at = host.at; at < host.end; at++)
        if (*at <= ' ' || *at == 127 || strchr("\"#%/:<>?@[\\]^`{|}", *at))
            host.end = at;
    host = strip_any(host, ".");
    if (is_empty(host))
        return host;
    const uint8_t *dot = find_last(host, '.');
    return is_digit(dot ? dot[1] : *host.at) ? dotted_address(arena, host) : host; /* "0x7f" also begins with a digit */
}

/* Returns the part of a URL after its scheme and slashes; an empty span if URLs with this scheme have no host. */
static span skip_scheme(span url) {
    span tail = first_bytes(url, MAX_SCHEME);
    while (tail.at < tail.end && (is_letter(*tail.at) || is_digit(*tail.at) || *tail.at == '+' || *tail.at == '-'))
        tail.at++;
    span scheme = span_between(url.at, tail.at);
    bool has_scheme = !is_empty(scheme) && !is_empty(tail) && *tail.at == ':';
    tail = span_between(has_scheme ? tail.at + 1 : url.at, url.end);
    bool is_web = starts_with_any_case(scheme, LITERAL("http")) || is_same_any_case(scheme, LITERAL("ftp"));
    if (!(has_scheme && is_web) && (size_of(tail) < 2 || !is_slash(tail.at[0]) || !is_slash(tail.at[1])))
        return span_of(url.end, 0);
    while (tail.at < tail.end && is_slash(*tail.at))
        tail.at++;
    return tail;
}

/* Returns the shortest form of an IPv6 address; an empty span if the host is no IPv6 address. */
static span shortest_address(struct arena *arena, span host) {
    char text[INET6_ADDRSTRLEN + 1] = {0}, shortest[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (size_of(host) < sizeof text)
        memcpy(text, host.at, size_of(host));
    bool is_address = inet_pton(AF_INET6, text, &address) && inet_ntop(AF_INET6, &address, shortest, sizeof shortest);
    return is_address ? arena_copy(arena, span_of_text(shortest)) : (span){0};
}

/* Returns the host at the beginning of a text, without the user before it and the port after it. */
static span host_of(struct reader *reader, span text) {
    span host = span_of(text.at, 0);
    while (host.end < text.end && !is_slash(*host.end) && *host.end != '?' && *host.end != '#')
        host.end++;
    const uint8_t *user_end = find_last(host, '@');
    host.at = user_end ? user_end + 1 : host.at;
    bool is_bracketed = starts_with(host, LITERAL("["));
    return is_bracketed ? shortest_address(&reader->arena, before_first(skip_bytes(host, 1), ']'))
                        : canonical_host(reader, before_first(host, ':'));
}

/* Returns a URL without spaces, line ends and control characters. */
static span remove_spaces(struct arena *arena, span url) {
    struct writer writer = writer_open(arena, size_of(url));
    for (; url.at < url.end; url.at++)
        if (*url.at > ' ')
            put_byte(&writer, *url.at);
    return writer_close(&writer);
}

void add_link(struct reader *reader, span url, bool is_doubtful) {
    struct message *message = &reader->message;
    span_list *urls = &message->links[is_doubtful];
    if (is_empty(url))
        return;
    if (urls->count == MAX_URLS)
        message->truncations |= TRUNCATED_LINKS;
    size_t replaced = MAX_URLS / 2 + message->n_links[is_doubtful]++ % (MAX_URLS / 2);
    *(urls->count < MAX_URLS ? LIST_ADD(&reader->arena, urls) : &urls->items[replaced]) = strip(url);
}

void find_links(struct reader *reader, span text) {
    for (const uint8_t *at; (at = find(text, LITERAL("://")));) {
        span url = span_between(at, at + 3);
        while (url.at > text.at && is_letter(url.at[-1]))
            url.at--;
        while (url.end < text.end && *url.end > ' ' && !strchr("<>\"", *url.end))
            url.end++;
        text.at = url.end;
        while (url.end > at + 3 && strchr(".,;:!?'*_)]}", url.end[-1])) /* of the sentence around it */
            url.end--;
        if (url.at < at && url.end > at + 3)
            add_link(reader, url, false);
    }
}

void add_links(struct reader *reader, bool doubtful) {
    const span_list *links = &reader->message.links[doubtful];
    for (size_t i = 0; i < links->count; i++) {
        span host = host_of(reader, skip_scheme(remove_spaces(&reader->arena, links->items[i])));
        if (find_byte(host, ':'))
            add_token(reader, LITERAL("url:"), host);
        else
            add_host(reader, LITERAL("url:"), host);
    }
}
