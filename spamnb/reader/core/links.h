/* Where a link leads: the host that a browser goes to, and the hosts of the URLs inside of a URL. */
#pragma once

#include "arena.h"

struct reader;

enum { MAX_URL = 2000, MAX_TARGETS = 4, MAX_HOST = 60, MAX_SCHEME = 31 };

/* How URLs hide where they lead. */
enum {
    TRICK_DISGUISED = 1, /* the host is not written as it is */
    TRICK_MIXED_SCRIPTS = 2,
    TRICK_REDIRECTOR = 4, /* another owner's URL inside */
    TRICK_SHORTENER = 8,
    TRICK_USER = 16, /* a name before the host */
    N_TRICKS = 5
};

struct link {
    span host; /* in lower case and the letters that a reader sees; empty where the URL leads to none */
    span targets[MAX_TARGETS];
    size_t n_targets;
    unsigned tricks; /* all but those of a host's name */
};

struct link read_link(struct reader *reader, span url);

static inline bool is_slash(uint8_t c) { return c == '/' || c == '\\'; }

/* The tricks of a host's name. */
unsigned host_tricks(struct reader *reader, span host);

/* Whether a link to url with this text names a host of another owner than of the hosts that it leads to. */
bool is_link_mismatch(struct reader *reader, span shown, span url);
