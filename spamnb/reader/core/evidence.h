/* What of a message becomes tokens beside the words of its texts: header fields, parts, links, structure. Which fields
 * count, and how, Python's evidence.py says. */
#pragma once

#include "arena.h"

struct reader;

/* How a header field is read. */
enum header_how {
    HOW_IGNORED,
    HOW_PRESENCE, /* that it is there */
    HOW_TEXT,     /* and its words as those of a text */
    HOW_NAMES,    /* its words as names, never cut */
    HOW_RECEIVED, /* hosts, networks and the shapes of ids, without the date behind them */
    HOW_SIGNATURE /* names, without what differs in every message */
};

/* What else it says. */
enum header_extra { EXTRA_NOTHING, EXTRA_SUBJECT, EXTRA_SENDER, EXTRA_DATE, EXTRA_MESSAGE_ID };

struct header_rule {
    span name; /* in lower case; with is_beginning what it begins with */
    bool is_beginning, is_volatile;
    uint8_t how, extra;
    span prefix; /* of its tokens; empty: its own name */
};

struct rule_table {
    struct header_rule *rules, other; /* other: how all that have no rule are read */
    size_t n_rules, ends[33]; /* ends: behind the rules of each bucket, after rules_sort */
};

/* Sorts rules into buckets, so that they are found. Of two that fit, the one that came first stays it. */
void rules_sort(struct rule_table *table);

/* The rule of a name in any case: that of the whole name, else the first beginning that fits. */
const struct header_rule *header_rule_of(const struct rule_table *table, span name);

/* The group of a token: of pairs, of header fields, and by the prefix before its first colon. */
struct token_kind {
    span prefix;
    uint8_t group;
};

struct group_table {
    struct token_kind *kinds;
    size_t n_kinds;
    uint8_t of_text, of_pairs, of_headers;
};

uint8_t group_of(const struct group_table *table, span token);

/* Puts the tokens of the message at hand into the row. */
void add_evidence(struct reader *reader);
