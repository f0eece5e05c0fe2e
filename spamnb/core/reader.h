/* What one call of the reader has, its memory, its tables, the program around it and the message at hand; and what each
 * file of the core does for the others. */
#pragma once

#include "bytes.h"
#include "hash.h"
#include "style.h"
#include "unicode.h"
#include "vocabulary.h"

struct reader;

/* ---- A message ---- */

struct field {
    span name, value; /* as they stand in the message: the value may be folded, and encoded in words */
    bool is_counted;  /* it is read whatever stands before it */
};

struct section {
    LIST(struct field) fields;
    const uint8_t *body;
    /* A line that is no field ends the section for some programs, others go on behind it: there begins the body of
     * the former, whose fields are the first ones, and behind an empty line that of the latter. NULL: it is the same. */
    size_t n_early;
    const uint8_t *late_body;
};

/* What a reader shows a part as; documents come last, in the order of enum ask. */
enum shown_as {
    AS_NOTHING, AS_TEXT, AS_HTML, AS_MULTIPART, AS_MESSAGE, AS_REPORT, AS_PDF, AS_SMIME, AS_TNEF
};

/* A part, what is said of it, and where its encoded body stands; of a message inside the message all of it. */
struct entity {
    span content_type, charset, encoding, disposition, filename;
    enum shown_as as;
    bool deletes_spaces; /* those before its line ends, and the line ends (RFC 3676, DelSp) */
    span boundary, body;
};

typedef LIST(struct entity) entity_list;

enum {
    MAX_TEXT = 1 << 20,   /* bytes of shown text in one message */
    MIN_TEXT = 1 << 12,   /* of each text, however long those before it are */
    MAX_URL = 2000,       /* of one that people see */
    MAX_HOST = 255,
    MAX_TOKENS = 50000 - 16, /* occurrences: to learn more takes seconds; and one for each bound that was reached */
    MAX_QUESTIONS = 128,  /* about charsets and hosts, which may all be different: Python takes 0.1 ms for one */
};

/* What was left out because a bound was reached: evidence.py has the same list in the same order. */
enum {
    CUT_HEADERS = 1, CUT_HTML = 2, CUT_LINKS = 4, CUT_PARTS = 8, CUT_TEXT = 16, CUT_NAMES = 32, CUT_TOKENS = 64,
    CUT_PDF = 128, /* and the documents behind it, as they stand in shown_as */
};

enum { DATE = 64 }; /* bytes: a date has 31, and a comment of the zone's name behind it */

struct message {
    span raw; /* with LF line ends */
    struct section section;
    span_list headers; /* name and decoded value of each field, by turns */
    span_list texts, hidden; /* what a reader shows first, then what he opens; what HTML does not show */
    span_list links, frames; /* URLs; pages that stand in attributes of a page */
    bool tags[N_TAGS]; /* that occur in HTML */
    uint32_t cuts;
    size_t n_tags, bytes_left, questions_left, tokens_left;
    entity_list leaves; /* its parts that are no multipart, as read_leaves has them */
    uint8_t digest[DIGEST];
    uint8_t date[DATE]; /* when it was received, as its topmost server wrote it; ends with 0 */
};

/* What is wanted of a message. */
enum {
    WANT_FIELDS = 1, /* header fields, decoded */
    WANT_BODY = 2,   /* texts, links, parts */
    WANT_DIGEST = 4,
    WANT_DATE = 8,
};

/* Reads a message into reader->message and, where it has a vocabulary, a row of that. The row is ended by the caller, or given up where
 * this fails. */
enum failure read_message(struct reader *reader, span raw, unsigned wants);

/* ---- What Python hands over ---- */

/* How a header field is read. */
enum header_how {
    HOW_IGNORED,
    HOW_VOLATILE,   /* ignored, and no part of the message's digest */
    HOW_PRESENCE,   /* that it is there */
    HOW_NAMES,      /* and its words as names, never cut */
    HOW_SUBJECT,    /* its words as those of a text, and once more without a prefix */
    HOW_RECEIVED,   /* hosts and networks, without the date behind them */
    HOW_SIGNATURE   /* names, without what differs in every message */
};

struct header_rule {
    span name; /* in lower case; with is_beginning what it begins with */
    bool is_beginning;
    uint8_t how;
    span prefix; /* of its tokens; empty: its own name */
};

struct rule_table {
    struct header_rule *rules, other; /* other: how all that have no rule are read */
    size_t n_rules, ends[33]; /* ends: behind the rules of each bucket, after rules_sort */
};

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

/* What is asked of the program around: for a text, another one. binding.py has the same list in the same order. */
enum ask {
    ASK_CHARACTERS, /* a character -> struct character of the 256 among which it is */
    ASK_DECODE,    /* octets and a charset -> UTF-8; nothing where the core reads it itself */
    ASK_COMPOSE,   /* UTF-8 -> UTF-8 with composed letters */
    ASK_HOST,      /* a host in other letters than Latin, or in punycode -> its name in small letters */
    ASK_STEM,      /* a word -> its stem */
    ASK_SPLIT,     /* a text -> its words, a line each */
    ASK_PDF, ASK_SMIME, ASK_TNEF, /* a document -> an entity of MIME, empty where there is none */
};

struct answer {
    span text;
    bool is_whole; /* nothing of the document was left out */
};

/* The program around; false where it failed: then the message is given up. What it answers stays where it is until it
 * is asked again. */
typedef bool (*answerer)(int what, const span *text, const span *other, struct answer *answer);

struct options {
    unsigned ngrams; /* the first words are joined to tokens of up to so many */
    bool body_only;
    bool stems;  /* words are stemmed, by ASK_STEM */
    bool splits; /* words are found by ASK_SPLIT */
};

struct reader {
    struct arena arena;
    struct rule_table rules;
    struct options options;
    answerer answerer;
    struct vocabulary *vocabulary; /* NULL where no row is wanted */
    struct message message;
};

/* What the program around answers. The text is in the arena; that of ASK_CHARACTERS is not. */
static inline struct answer ask(struct reader *reader, enum ask what, span text, span other) {
    struct answer answer = {0};
    if (!reader->answerer((int)what, &text, &other, &answer))
        arena_fail(&reader->arena, FAILED_ANSWER);
    if (answer.text.at && what != ASK_CHARACTERS)
        answer.text = arena_copy(&reader->arena, answer.text);
    return answer;
}

/* Whether a message may ask once more about a name: a sender can make as many as he likes. */
static inline bool may_ask(struct reader *reader) {
    if (!reader->message.questions_left)
        reader->message.cuts |= CUT_NAMES;
    return reader->message.questions_left && reader->message.questions_left--;
}

/* ---- header.c: fields, parameters (RFC 2045 and 2231), encoded words (RFC 2047); as tolerant as mail needs ---- */

/* CRLF and CR made LF: the text itself where there is no CR. */
span with_line_feeds(struct arena *arena, span text);
/* A text without some bytes that follow each other. */
span without(struct arena *arena, span text, span bytes);
/* Where the header section begins: behind a byte order mark and the "From " line of an mbox. */
const uint8_t *skip_envelope(span message);
/* The section at the beginning of a message, or of a part. Sets CUT_HEADERS where a bound is reached. */
struct section read_section(struct reader *reader, span message);
/* A value on one line, in UTF-8; with_words: its encoded words are decoded, too. */
span field_value(struct reader *reader, span value, bool with_words);
/* The first field of a name in lower case, or the last one, among the first n; NULL where there is none. */
const struct field *find_field(const struct section *section, size_t n, span name, bool is_last);
/* The value of the first one among all; NULL spans where there is none. */
span value_of(struct reader *reader, const struct section *section, span name, bool with_words);

struct parameters {
    span main; /* before the first semicolon or space, in lower case */
    span charset, boundary, name, filename, delsp;
};

/* A value without blanks around it, and without the comments before it. */
span uncommented(span value);
/* The parameters of a value that field_value gave. */
struct parameters read_parameters(struct reader *reader, span value);

/* ---- mime.c ---- */

/* The leaves of a message, in the order in which a reader shows them: of alternatives plain text comes last. */
entity_list read_leaves(struct reader *reader, span message);

/* ---- transfer.c: letters -> bytes, and bytes in the charset that a message claims -> UTF-8 ---- */

/* What the letters of base64 stand for; other characters are skipped. */
void put_base64(struct writer *writer, span text);
/* Decoded quoted-printable. In headers "_" is a space. */
void put_quoted_printable(struct writer *writer, span text, bool in_header);
/* A text with the bytes that "%20" and the like stand for. */
span percent_decoded(struct arena *arena, span text);
/* The body of a part without its Content-Transfer-Encoding, by its name; an unknown one is none. */
span decode_transfer(struct reader *reader, span body, span encoding);
/* Text of bytes by a claimed charset, perhaps empty. A claim is only a claim: what comes out is always valid. */
span decode_text(struct reader *reader, span octets, span charset);

/* ---- html.c: HTML -> what its reader sees, and what he does not see ---- */

struct html_text {
    span shown, hidden;
};

/* The texts of a document in UTF-8; URLs and facts go to the reader's message. */
struct html_text read_html(struct reader *reader, span html);
/* The charset that a document's meta element declares, as far as it matters; perhaps empty. */
span declared_charset(span octets);

/* ---- references.c: &amp; &#38; &#x26; -> the characters that they stand for ---- */

/* The n names, ascending and with their semicolons if they need them, and what they stand for; once, before anything is
 * read. All must stay where they are. */
void references_begin(const char *const names[], const char *const texts[], size_t n);
/* Writes text with its references resolved as browsers do. In attributes a name without a semicolon is none where a
 * letter, a digit or "=" follows, as in most URLs. */
void put_resolved(struct writer *writer, span text, bool in_attribute);

/* ---- words.c: text -> words -> tokens, in every script ---- */

/* What is made of a word: its parts, it as a whole, or a host's domains and networks. */
enum word_method { WORD_PARTS, WORD_WHOLE, WORD_HOST };

/* A prefix is empty, or ends with its only colon and has no blank. */
struct place {
    span prefix;
    enum word_method method;
};

/* Makes the table of bytes; once, before anything is read. */
void words_begin(void);
/* Counts the token of a prefix and a text; any text will do. */
void add_token(struct reader *reader, span prefix, span text);
/* The words of a header value or of hidden text. */
void add_words(struct reader *reader, const struct place *place, span text);
/* The words of texts together; pairs of the first ones, punctuation, how many words there are, and how many in
 * capitals. The prefix stands before the tokens of the last three kinds. Where it is empty also the length of lines, and
 * the share of capitals. */
void add_texts(struct reader *reader, const span_list *texts, span prefix);
/* The domains of a host in lower case, or the networks of an address. */
void add_host(struct reader *reader, span prefix, span host);

/* ---- links.c, evidence.c: what becomes tokens beside the words of texts ---- */

/* The hosts of links. */
void add_links(struct reader *reader);
/* Sorts rules into buckets, so that they are found. Of two that fit, the one that came first stays it. */
void rules_sort(struct rule_table *table);
/* The rule of a name in any case: that of the whole name, else the first beginning that fits. */
const struct header_rule *header_rule_of(const struct rule_table *table, span name);
uint8_t group_of(const struct group_table *table, span token);
/* Puts the tokens of header fields, links, HTML, hidden text and parts into the row. */
void add_evidence(struct reader *reader);
/* Says which bounds were reached. */
void add_cuts(struct reader *reader);
