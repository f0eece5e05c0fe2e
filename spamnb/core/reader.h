/* The reader of messages: its message, its tables and its questions, and what each file of it does for the others. */
#pragma once

#include "bytes.h"
#include "hash.h"
#include "style.h"
#include "unicode.h"
#include "vocabulary.h"

struct reader;

/* ---- A message ---- */

struct field {
    span name, value; /* raw: the value may be folded and have encoded words */
    bool is_essential; /* read however many fields precede it */
};

struct section {
    LIST(struct field) fields;
    const uint8_t *body;
    /* At a line that is no field some programs end the section, and read the first n_early fields; others read on until
     * an empty line, behind which late_body begins. NULL: there is no such line. */
    size_t n_early;
    const uint8_t *late_body;
};

/* How a mail reader shows a part; documents come last, in the order of enum ask. */
enum shown_as {
    AS_NOTHING, AS_TEXT, AS_HTML, AS_MULTIPART, AS_MESSAGE, AS_REPORT, AS_PDF, AS_SMIME, AS_TNEF
};

/* A part with its raw body; a message inside the message with all of its text. */
struct entity {
    span content_type, charset, encoding, disposition, filename;
    enum shown_as as;
    bool deletes_spaces; /* before line ends, together with these (RFC 3676, DelSp) */
    span boundary, body;
};

typedef LIST(struct entity) entity_list;

enum {
    MAX_TEXT = 1 << 20,   /* bytes of shown text in one message */
    MIN_TEXT = 1 << 12,   /* bytes that are read of each text, however long the texts before it are */
    MAX_URL = 2000,       /* bytes of a URL for people */
    MAX_HOST = 255,       /* bytes (RFC 1035) */
    MAX_TOKENS = 50000 - 16, /* occurrences, and at most 16 tokens for truncations; learning more takes seconds */
    MAX_QUESTIONS = 128,  /* about charsets and hosts, which may all differ: Python takes 0.1 ms for one */
};

/* What was not read because a bound was reached, as TRUNCATIONS of evidence.py in the same order. */
enum {
    TRUNCATED_HEADERS = 1, TRUNCATED_HTML = 2, TRUNCATED_LINKS = 4, TRUNCATED_PARTS = 8, TRUNCATED_TEXT = 16,
    TRUNCATED_NAMES = 32, TRUNCATED_TOKENS = 64,
    TRUNCATED_PDF = 128, /* the other documents follow in the order of shown_as */
};

enum { DATE = 64 }; /* bytes: a date has 31, and perhaps a comment with the zone's name */

struct message {
    span raw; /* with LF line ends */
    struct section section;
    span_list headers; /* name and decoded value of each field, alternating */
    span_list texts, hidden; /* texts: what a mail reader shows first, then attachments; hidden: what HTML hides */
    span_list files; /* name and content type of each attachment, alternating */
    span_list links, frames; /* URLs; pages in attributes of a page */
    bool tags[N_TAGS]; /* the tags that occur in HTML */
    uint32_t truncations;
    size_t n_tags, bytes_left, questions_left, tokens_left;
    entity_list leaves; /* the parts that are no multipart, in the order of read_leaves */
    uint8_t digest[DIGEST];
    uint8_t date[DATE]; /* when it was received, as its topmost server wrote it; ends with 0 */
};

/* What is to be read of a message. binding.py has the same numbers. */
enum {
    WANT_FIELDS = 1, /* header fields, decoded */
    WANT_BODY = 2,   /* texts, links, parts */
    WANT_DIGEST = 4,
    WANT_DATE = 8,
};

/* Reads a message into reader->message and, if there is a vocabulary, into its current row, which the caller ends. After a
 * failure the caller forgets the row. */
enum failure read_message(struct reader *reader, span raw, unsigned wants);

/* ---- Rules and groups, which Python defines ---- */

/* How a header field is read. */
enum header_how {
    HOW_IGNORED,
    HOW_VOLATILE,   /* ignored, and no part of the message's digest */
    HOW_PRESENCE,   /* a token for the field's presence; also for all that follow */
    HOW_NAMES,      /* its words as names, which are never split */
    HOW_SUBJECT,    /* its words as those of a text, and again without a prefix */
    HOW_RECEIVED,   /* hosts and networks, without the date */
    HOW_SIGNATURE   /* names, without the parameters that differ in each message */
};

struct header_rule {
    span name; /* in lower case */
    bool is_beginning; /* the rule is for all names that begin with this one */
    uint8_t how;
    span prefix; /* of its tokens; empty: the field's name */
};

struct rule_table {
    struct header_rule *rules, other; /* other: for fields without a rule */
    size_t n_rules, ends[33]; /* ends: the end of each bucket's rules, after rules_sort */
};

/* A prefix of tokens, without its colon, and their group. */
struct token_kind {
    span prefix;
    uint8_t group;
};

struct group_table {
    struct token_kind *kinds;
    size_t n_kinds;
    uint8_t of_text, of_pairs, of_headers;
};

/* ---- Questions to Python ---- */

/* Each question is a text, and the answer another one. binding.py has the same list in the same order. */
enum ask {
    ASK_CHARACTERS, /* a character -> struct character of the 256 that it is among */
    ASK_DECODE,    /* octets and a charset -> UTF-8; NULL for a charset that the core reads */
    ASK_COMPOSE,   /* UTF-8 -> UTF-8 with composed letters */
    ASK_HOST,      /* a host in other letters than Latin, or in punycode -> its name in lower case */
    ASK_STEM,      /* a word -> its stem */
    ASK_SPLIT,     /* a text -> its words, a line each */
    ASK_PDF, ASK_SMIME, ASK_TNEF, /* a document -> a MIME entity, perhaps empty */
};

struct answer {
    span text;
    bool is_whole; /* it has all of the document */
};

/* Answers a question; false after an exception, which ends the message. The answer stays in place until the next
 * question. */
typedef bool (*answerer)(int what, const span *text, const span *other, struct answer *answer);

struct options {
    unsigned ngrams; /* the most words of a token */
    bool body_only;
    bool stems;  /* words are stemmed, by ASK_STEM */
    bool splits; /* texts are split into words by ASK_SPLIT */
};

struct reader {
    struct arena arena;
    struct rule_table rules;
    struct options options;
    answerer answerer;
    struct vocabulary *vocabulary; /* NULL: no row is wanted */
    struct message message;
};

/* Asks a question. The answer's text is in the arena, but for ASK_CHARACTERS. */
static inline struct answer ask(struct reader *reader, enum ask what, span text, span other) {
    struct answer answer = {0};
    if (!reader->answerer((int)what, &text, &other, &answer))
        arena_fail(&reader->arena, FAILED_ANSWER);
    if (answer.text.at && what != ASK_CHARACTERS)
        answer.text = arena_copy(&reader->arena, answer.text);
    return answer;
}

/* Counts a question about a name; false after MAX_QUESTIONS of a message. */
static inline bool may_ask(struct reader *reader) {
    if (!reader->message.questions_left)
        reader->message.truncations |= TRUNCATED_NAMES;
    return reader->message.questions_left && reader->message.questions_left--;
}

/* ---- header.c: fields, parameters (RFC 2045 and 2231), encoded words (RFC 2047); as tolerant as mail needs ---- */

/* Returns a text with LF line ends; the text itself if it has no CR. */
span with_line_feeds(struct arena *arena, span text);
/* Returns a text without each occurrence of another one. */
span without(struct arena *arena, span text, span bytes);
/* Returns the begin of the header section, behind a byte order mark and an mbox's "From " line. */
const uint8_t *skip_envelope(span message);
/* Reads the header section of a message, or of a part. */
struct section read_section(struct reader *reader, span message);
/* Returns a value on one line, in UTF-8; with_words: with its encoded words decoded. */
span field_value(struct reader *reader, span value, bool with_words);
/* Returns the first or last field of a name in lower case, among the first n; NULL if there is none. */
const struct field *find_field(const struct section *section, size_t n, span name, bool is_last);
/* Returns the value of the first field of a name; NULL spans if there is none. */
span value_of(struct reader *reader, const struct section *section, span name, bool with_words);

struct parameters {
    span main; /* before the first semicolon or space, in lower case */
    span charset, boundary, name, filename, delsp;
};

/* Returns a value without the blanks around it and the comments before it. */
span uncommented(span value);
/* Reads the parameters of a field_value. */
struct parameters read_parameters(struct reader *reader, span value);

/* ---- mime.c: the parts of a message ---- */

/* Returns the leaves of a message, in the order in which mail readers show them; of alternatives plain text comes last. */
entity_list read_leaves(struct reader *reader, span message);

/* ---- transfer.c: transfer encodings -> bytes, and bytes in a claimed charset -> UTF-8 ---- */

/* Writes decoded base64; other characters are skipped. */
void put_base64(struct writer *writer, span text);
/* Writes decoded quoted-printable. In headers "_" is a space. */
void put_quoted_printable(struct writer *writer, span text, bool in_header);
/* Decodes "%20" and the like. */
span percent_decoded(struct arena *arena, span text);
/* Decodes a body by the name of its Content-Transfer-Encoding; an unknown one is none. */
span decode_transfer(struct reader *reader, span body, span encoding);
/* Decodes bytes by the claimed charset, which may be empty or wrong; the result is always valid UTF-8. */
span decode_text(struct reader *reader, span octets, span charset);

/* ---- html.c: HTML -> shown text, and hidden text ---- */

struct html_text {
    span shown, hidden;
};

/* Reads a document in UTF-8; its URLs, tags and frames go to the reader's message. */
struct html_text read_html(struct reader *reader, span html);
/* Returns the charset that a document's meta element declares; empty if there is none, or if it makes no difference. */
span declared_charset(span octets);

/* ---- references.c: character references of HTML, as &amp; &#38; &#x26; ---- */

/* Registers the n names, ascending and with their semicolons if they need them, and their characters; once, before the
 * first message. All must stay in place. */
void references_begin(const char *const names[], const char *const texts[], size_t n);
/* Writes text with its references resolved as browsers do. In attributes a name without a semicolon is no reference if a
 * letter, a digit or "=" follows, as in most URLs. */
void put_resolved(struct writer *writer, span text, bool in_attribute);

/* ---- words.c: text -> words -> tokens, in every script ---- */

/* How a word becomes tokens: by its parts, as a whole, or as a host with its domains or networks. */
enum word_method { WORD_PARTS, WORD_WHOLE, WORD_HOST };

/* Where words are read. The prefix of their tokens is empty, or ends with its only colon and has no blank. */
struct place {
    span prefix;
    enum word_method method;
};

/* Makes the table of bytes; once, before the first message. */
void words_begin(void);
/* Counts the token of a prefix and any text. */
void add_token(struct reader *reader, span prefix, span text);
/* Counts the words of a header value or of hidden text. */
void add_words(struct reader *reader, const struct place *place, span text);
/* Counts the words of texts, the pairs of the first ones, punctuation, and tokens for the numbers of words and of words
 * in capitals. The tokens of the last three kinds have the prefix. If it is empty, also tokens for the length of lines
 * and the share of capitals. */
void add_texts(struct reader *reader, const span_list *texts, span prefix);
/* Counts the domains of a host in lower case, or the networks of an address. */
void add_host(struct reader *reader, span prefix, span host);

/* ---- links.c, evidence.c: tokens of links, header fields, parts and structure ---- */

/* Counts the hosts of links. */
void add_links(struct reader *reader);
/* Sorts rules into buckets for header_rule_of; the rules of a bucket keep their order. */
void rules_sort(struct rule_table *table);
/* Returns the rule of a name in any case: that of the whole name, else of the first beginning that fits. */
const struct header_rule *header_rule_of(const struct rule_table *table, span name);
/* Returns the group of a token: by its prefix, and of pairs, words and header fields. */
uint8_t group_of(const struct group_table *table, span token);
/* Counts the tokens of header fields, links, HTML, hidden text and parts. */
void add_evidence(struct reader *reader);
/* Counts a token for each truncation. */
void add_truncations(struct reader *reader);
