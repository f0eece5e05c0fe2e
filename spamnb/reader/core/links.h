/* Where a link leads: the host that a browser goes to, and the hosts of the URLs inside of a URL.
 *
 * The rules are those of the URL Standard (https://url.spec.whatwg.org, "host parsing"). Names in other scripts become
 * punycode. Where a browser refuses a host, what stands before its first forbidden character is read.
 */
#ifndef SPAMNB_LINKS_H
#define SPAMNB_LINKS_H

#include "arena.h"

struct reader;

enum { MAX_URL = 2000, MAX_TARGETS = 4, MAX_HOST_NAME = 255, MAX_HOST = 60 };

/* How URLs hide where they lead. */
enum {
    TRICK_DISGUISED = 1, /* the host is not written as it is */
    TRICK_LONG_HOST = 2,
    TRICK_MIXED_SCRIPTS = 4,
    TRICK_REDIRECTOR = 8, /* another owner's URL inside */
    TRICK_SHORTENER = 16,
    TRICK_USER = 32, /* a name before the host */
};

struct link {
    span host; /* in ASCII and lower case; empty where the URL leads to none */
    span targets[MAX_TARGETS];
    size_t n_targets;
    unsigned tricks; /* all but those of a host's name */
};

struct link read_link(struct reader *reader, span url);

/* A host as it is written in a URL -> the name or address that it is. */
span canonical_host(struct reader *reader, span written);

/* The tricks of a host's name. */
unsigned host_tricks(struct reader *reader, span host);

/* Whether a link to url with this text names a host of another owner than of the hosts that it leads to. */
bool is_link_mismatch(struct reader *reader, span shown, span url);

#endif
