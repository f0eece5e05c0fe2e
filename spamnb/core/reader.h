/* The reader of messages: the message that it reads, its tables, and the functions that each of its files offers to the
 * other files. interface.h has its questions to Python.
 * "Ordinary mail: 9" after a bound says that 9 is the largest number in 6,438 messages: the SpamAssassin corpus and
 * 391 messages of modern phishing. */
#pragma once

#include "bytes.h"
#include "hash.h"
#include "style.h"
#include "unicode.h"
#include "vocabulary.h"

/* ---- A message ---- */

struct field {
    span name, value; /* as in the message: the value may be folded, and its words encoded */
    bool is_essential; /* the first and the last field with this name are always read */
};

struct section {
    LIST(struct field) fields;
    const uint8_t *body;
    const uint8_t *first_stray; /* the first line that is no field; the body if all lines of the section are fields */
    span stray; /* the lines that are no fields, although fields or an encoded body follow */
};

/* How a mail reader shows a part. The documents that Python opens come last, in the order of enum ask. */
enum display {
    AS_NOTHING, AS_TEXT, AS_REPORT, AS_ENRICHED, AS_RTF, AS_HTML, AS_MULTIPART, AS_MESSAGE, AS_PDF, AS_SMIME, AS_TNEF
};

static inline bool is_text(enum display display) { return display >= AS_TEXT && display <= AS_HTML; }

/* A part, with its body in its transfer encoding. The body of an inner message is the whole inner message, with its
 * header section. Stray lines of a section are a part without a content type. */
struct entity {
    span content_type, charset, encoding, filename, content_id, start; /* start: the content_id of a multipart's root */
    enum display display; /* how a mail reader shows the part */
    bool is_doubtful; /* some mail readers do not show the part, or read it otherwise */
    bool is_attached; /* mail readers show the part only when the user opens it */
    bool deletes_spaces; /* DelSp=yes: a space before a line end is deleted with the line end (RFC 3676) */
    span boundary, other_boundary, body; /* other_boundary: that of struct parameters */
};

typedef LIST(struct entity) entity_list;

enum {
    MAX_TEXT = 1 << 20, /* bytes of plain text, and of doubtful text, in one message; ordinary mail: 194,940 */
    MIN_TEXT = 1 << 12, /* bytes that are read of each text even if earlier texts have used up MAX_TEXT */
    MAX_BREAKS = 60,    /* lines without words, or line breaks of a page, after which text is doubtful; ordinary mail: 59 */
    MAX_URL = 2000,     /* bytes of a URL that is shown to people; ordinary mail: 95,430, if a picture is in the URL */
    MAX_HOST = 255,     /* bytes of a host's name (RFC 1035) */
    MAX_TOKENS = 50000 - 16, /* of a message, with repetitions, because more would take seconds to learn; ordinary
                              * mail: 17,065. At most 16 tokens for truncations are added */
    MAX_QUESTIONS = 128, /* to Python about the charsets and hosts of a message, because an answer takes 0.1 ms;
                          * ordinary mail: 88 */
};

/* The kinds of content that was not read because a bound was reached. TRUNCATIONS in spamnb/reader/evidence.py has the
 * same list in the same order. */
enum {
    TRUNCATED_HEADERS = 1, TRUNCATED_HTML = 2, TRUNCATED_LINKS = 4, TRUNCATED_PARTS = 8, TRUNCATED_TEXT = 16,
    TRUNCATED_NAMES = 32, TRUNCATED_TOKENS = 64,
    TRUNCATED_PDF = 128, /* the bits of S/MIME and TNEF documents follow, in the order of enum display */
};

struct message {
    span raw; /* with LF line ends */
    struct section section;
    span_list headers; /* name and decoded value of each field, alternating */
    span_list texts, doubtful; /* plain texts and doubtful texts; those of attachments are doubtful */
    size_t n_joined; /* number of doubtful texts before those of alternatives */
    span_list files; /* name and content type of each attachment, alternating */
    span_list links[2]; /* plain and doubtful URLs */
    span_list urls; /* of all links, for people */
    span_list frames; /* HTML pages in srcdoc attributes of the current page */
    bool has_doubtful_page; /* a page has doubtful text */
    struct document *document; /* the page that is read; NULL before the first one */
    bool tags[N_TAGS]; /* by tag: whether the message's HTML has it */
    uint32_t truncations;
    size_t n_tags, n_nodes; /* numbers of tags and of nodes in all pages */
    size_t n_links[2]; /* numbers of plain and of doubtful links, with those that were replaced */
    size_t bytes_left[2]; /* of plain texts, and of doubtful texts, until MAX_TEXT */
    size_t questions_left, tokens_left; /* until MAX_QUESTIONS, MAX_TOKENS */
    entity_list leaves; /* all parts except multiparts, in the order of read_leaves */
    span charset; /* that message_charset returns; at NULL until needed */
    uint8_t digest[DIGEST];
    uint8_t date[DATE]; /* of the topmost Received field, or else of the Date field; ends with a zero byte */
    int64_t sender;     /* the hash of the mailing list, or else of the sender's domain; 0: the message names neither */
};

/* Reads a message into reader->message. If the reader has a vocabulary, also counts the message's tokens in the current
 * row of the vocabulary; the caller ends this row, or removes it after a failure. */
enum failure read_message(struct reader *reader, span raw, unsigned wants);

/* ---- Rules and groups, which Python defines ---- */

struct header_rule {
    span name; /* in lower case */
    bool is_beginning; /* the rule is for all fields whose name begins with this name */
    uint8_t method;
    span prefix; /* of the field's tokens, without a colon; empty: the prefix is the field's name */
};

struct rule_table {
    struct header_rule *rules, other; /* other: for fields without a rule */
    size_t n_rules, ends[33]; /* ends: of each bucket the end of its rules, written by rules_sort */
};

/* A prefix of tokens, without its colon, and the group of the tokens with this prefix. */
struct token_kind {
    span prefix;
    uint8_t group;
};

struct group_table {
    struct token_kind *kinds;
    size_t n_kinds;
    uint8_t text_group, pair_group, header_group; /* groups of words, of pairs of words, and of header fields */
};

/* ---- Questions to Python ---- */

struct options {
    unsigned ngrams; /* the largest number of words that are joined to one token */
    bool body_only; /* only the tokens of texts are counted */
    bool stems;  /* words are replaced by their stems, by ASK_STEM */
    bool splits; /* texts are split into words by ASK_SPLIT */
};

struct reader {
    struct arena arena;
    struct rule_table rules;
    struct options options;
    void *answerer; /* of answer_question */
    struct vocabulary *vocabulary; /* NULL: tokens are not counted */
    struct message message;
};

/* Asks Python a question. The text of the answer is copied into the arena, except for ASK_CHARACTERS. */
static inline struct answer ask(struct reader *reader, enum ask question, span text, span other_text) {
    struct answer answer = {0};
    if (!answer_question(reader->answerer, (int)question, &text, &other_text, &answer))
        arena_fail(&reader->arena, FAILED_ANSWER);
    if (answer.text.at && question != ASK_CHARACTERS)
        answer.text = arena_copy(&reader->arena, answer.text);
    return answer;
}

/* Counts a question about a charset or a host. Returns false after MAX_QUESTIONS questions about one message. */
static inline bool may_ask(struct reader *reader) {
    if (!reader->message.questions_left)
        reader->message.truncations |= TRUNCATED_NAMES;
    return reader->message.questions_left && reader->message.questions_left--;
}

/* ---- header.c: fields, parameters (RFC 2045, 2231), encoded words (RFC 2047) ---- */

/* Returns a text of at most n bytes: the text, or its beginning and its end with this byte between them. */
span drop_middle(struct arena *arena, span text, size_t n, uint8_t between);
/* Returns a text with LF line ends; the text itself if it has no CR. */
span convert_line_ends(struct arena *arena, span text);
/* Returns a text without all occurrences of bytes. */
span remove_all(struct arena *arena, span text, span bytes);
/* Returns where the header section of a message begins: after a byte order mark and the "From " line of an mbox. */
const uint8_t *skip_envelope(span message);
/* Returns whether a name in lower case, which may be empty, names no charset of 8-bit bytes. */
static inline bool is_unnamed(span charset) {
    return is_empty(charset) || is_one_of(charset, "us-ascii unknown-8bit x-unknown");
}
/* Returns the charset of 8-bit bytes that are not UTF-8 and have no charset of their own: the first parameter "charset="
 * of the message that names another one than UTF-8, or else the charset of the first encoded word. */
span message_charset(struct reader *reader);
/* Reads the header section of a message, or of a part. */
struct section read_section(struct reader *reader, span message);
/* Returns the value of a field on one line and in UTF-8; a span of NULL if field is NULL. is_decoded: encoded words are
 * decoded. */
span field_value(struct reader *reader, const struct field *field, bool is_decoded);
/* Returns the first or the last field with this name, in lower case; NULL if none has it. */
const struct field *find_field(const struct section *section, span name, bool is_last);
/* Writes the first and the last field with this name. Returns 1 if their values differ: some programs read the first
 * field and others the last one. Returns 0 if one reading is enough. */
size_t find_readings(const struct section *section, span name, const struct field *readings[2]);
/* Returns the field_value of the first field with this name; a span of NULL if no field has it. */
span value_of(struct reader *reader, const struct section *section, span name, bool is_decoded);

struct parameters {
    span main; /* the value before its parameters, in lower case */
    span charset, boundary, name, filename, delsp, start;
    span other_boundary; /* the last boundary=, if it is not the boundary: programs read one of them */
};

/* Returns a value with a blank in place of each comment, and without blanks at both ends. */
span remove_comments(struct arena *arena, span value);
/* Reads the parameters of a value that field_value returned. */
struct parameters read_parameters(struct reader *reader, span value);

/* ---- mime.c: the parts of a message ---- */

/* Returns the leaves of a message in their order. */
entity_list read_leaves(struct reader *reader, span message);

/* ---- transfer.c: transfer encodings -> bytes, and bytes in a claimed charset -> UTF-8 ---- */

/* Writes decoded base64; characters that base64 does not have are skipped. Returns the text that is not decoded: from
 * the first padding on, or from the first line that begins with such a character. */
span put_base64(struct writer *writer, span text);
/* Writes decoded quoted-printable text. in_header: "_" is a space (RFC 2047). */
void put_quoted_printable(struct writer *writer, span text, bool in_header);
/* Returns a text with its percent-encoded bytes, such as "%20", decoded. */
span decode_percents(struct arena *arena, span text);
/* Decodes a body. encoding: its Content-Transfer-Encoding. Returns the body itself if the encoding is unknown. Writes the
 * text after the end of base64 to rest. */
span decode_transfer(struct reader *reader, span body, span encoding, span *rest);
/* Decodes bytes by the charset that the message names, which may be empty or wrong. The result is always valid
 * UTF-8. */
span decode_text(struct reader *reader, span octets, span charset);

/* ---- rich.c: text with formatting in it -> text ---- */

/* Returns a text of type text/enriched without its formatting. */
span remove_enrichment(struct arena *arena, span text);
/* Returns the text of an RTF document. Its bytes are in the code page that it names, or else in this charset. */
span remove_rtf(struct reader *reader, span text, span charset);

/* ---- html.c: HTML -> plain text, and doubtful text ---- */

struct html_text {
    span plain, doubtful;
};

/* Returns the texts of a document in UTF-8, and adds its URLs, tags and frames to the reader's message. */
struct html_text read_html(struct reader *reader, span html, bool is_doubtful);
/* Returns the charset that a document's meta element declares; empty if it declares none, or if the document is valid
 * UTF-8 and has no escape, which the charsets of ISO 2022 need. */
span needed_charset(span octets);

/* ---- references.c: character references of HTML, as &amp; &#38; &#x26; ---- */

/* Registers n references, as core_begin gets them. Returns false if there is too little memory. */
bool references_begin(const char *references, size_t n);
/* Writes a text with its references resolved as browsers resolve them. In an attribute, a name without a semicolon is
 * no reference if a letter, a digit or "=" follows: "&copy=" in a URL is the name of a parameter. */
void put_resolved(struct writer *writer, span text, bool in_attribute);

/* ---- words.c: text -> words -> tokens, in every script ---- */

/* How a word becomes tokens. WORD_PARTS: each part is a token. WORD_WHOLE: the whole word is a token. WORD_HOST: the
 * word is a host; the host and each of its domains or networks are tokens. */
enum word_method { WORD_PARTS, WORD_WHOLE, WORD_HOST };

/* How the words of a text become tokens. The prefix of the tokens is empty, or ends with its only colon and has no
 * blank. */
struct word_rule {
    span prefix;
    enum word_method method;
};

/* Makes the table of the kinds of bytes. Called once, before the first message. */
void words_begin(void);
/* Counts the token that consists of a prefix and a text. */
void add_token(struct reader *reader, span prefix, span text);
/* Counts the words of a header value. */
void add_words(struct reader *reader, const struct word_rule *rule, span text);
/* Counts the tokens of texts: words, pairs of the first words, punctuation, the number of words, and the number of
 * words in capitals. Words and pairs have no prefix; the other tokens have this prefix. If the prefix is empty, also
 * counts tokens for the length of lines and for the share of capitals. */
void add_texts(struct reader *reader, const span_list *texts, span prefix);
/* Counts the words of doubtful texts, punctuation, and pairs of the first words in the first n_joined texts. */
void add_doubtful_texts(struct reader *reader, const span_list *texts, size_t n_joined);
/* Counts a host, in lower case, with its domains; or an address with its networks. */
void add_host(struct reader *reader, span prefix, span host);

/* ---- links.c, evidence.c: tokens of links, header fields, parts and structure ---- */

/* Adds a URL to the message's plain or doubtful links. After MAX_URLS, it replaces another one of the second half, so that
 * the first and the last URLs of a message are read. */
void add_link(struct reader *reader, span url, bool is_doubtful);
/* Adds the URLs in a plain text, of which mail readers make links. */
void find_links(struct reader *reader, span text);
/* Counts the hosts of the message's plain or doubtful links. */
void add_links(struct reader *reader, bool doubtful);
/* Sorts rules into buckets for header_rule_of; the rules of a bucket keep their order. */
void rules_sort(struct rule_table *table);
/* Returns the rule for a field's name: the rule for the whole name, or else the first rule for a beginning of the
 * name. Ignores the case of letters. */
const struct header_rule *header_rule_of(const struct rule_table *table, span name);
/* Returns the group of a token. A token with an unknown prefix is of a header field; a token with a blank is a pair. */
uint8_t group_of(const struct group_table *table, span token);
/* Counts the tokens of the message's header fields, plain links, HTML and parts. */
void add_evidence(struct reader *reader);
/* Counts a token for each truncation of the message. */
void add_truncations(struct reader *reader);
