/* What Python calls, and what it answers. scripts/build_binding.py reads this file, without the lines that begin with
 * "#", and writes the module spamnb.core._core. So this file has plain declarations alone. spamnb/core/library.py checks
 * the sizes of arrays. All calls release Python's lock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYTHON_FUNCTION extern /* a function in Python, which the core calls */

/* ---- The core ---- */

/* Makes the tables of the core. Called once, before any other function. references: for each of n character references
 * of HTML its name and its characters, in the order of the names. Each text ends with a zero byte. The texts must stay in
 * memory. secret: 16 bytes, the key of all hash tables. Returns false if there is too little memory. */
bool core_begin(const char *references, size_t n, const char *secret);

/* Returns free memory to the system, and from now on each large array as soon as it is freed. */
void give_memory_back(void);

/* ---- Vocabulary ---- */

struct vocabulary;

/* A token of a row: its id, and how often it occurs in the message. */
struct cell {
    uint32_t id, count;
};

/* Returns a new, empty vocabulary; NULL if there is too little memory. */
struct vocabulary *vocabulary_new(void);
void vocabulary_delete(struct vocabulary *vocabulary);
size_t vocabulary_size(const struct vocabulary *vocabulary);
/* Writes the ids of n tokens, whose texts follow one another in text; new tokens get new ids. Returns false if there is
 * too little memory. */
bool vocabulary_ids(struct vocabulary *vocabulary, const uint8_t *text, const int32_t *lengths, size_t n, int32_t *ids);
/* Writes the lengths, in bytes, of the texts of the n tokens with these ids. */
void vocabulary_lengths(const struct vocabulary *vocabulary, const uint32_t *ids, size_t n, int32_t *lengths);
/* Writes the texts of the n tokens with these ids, one after the other. */
void vocabulary_texts(const struct vocabulary *vocabulary, const uint32_t *ids, size_t n, uint8_t *at);
/* Writes the file_hash and the group of each of the n tokens with these ids. */
void vocabulary_describe(struct vocabulary *vocabulary, const uint32_t *ids, size_t n, int64_t *hashes, int8_t *groups);
/* Returns the cells of all rows, and writes the number of these cells. */
const struct cell *vocabulary_cells(const struct vocabulary *vocabulary, size_t *n);
/* Removes all rows, also the current row. Tokens keep their ids. */
void vocabulary_forget_rows(struct vocabulary *vocabulary);

/* Registers the n prefixes of tokens with their groups. other_groups: the groups of words, of pairs and of header
 * fields. Called once, before vocabulary_describe. The prefixes must stay in memory. Returns false if there is too
 * little memory. */
bool kinds_begin(const char *const prefixes[], const uint8_t *prefix_groups, size_t n, const uint8_t *other_groups);

/* ---- Reader ---- */

struct reader;

typedef struct {
    const uint8_t *at, *end;
} span;

enum { DIGEST = 16 }; /* bytes */
enum { DATE = 64 };   /* bytes: a date has 31, and a comment with the name of its time zone may follow */

/* The contents of a message that a caller may request. */
enum want {
    WANT_FIELDS = 1, /* header fields, decoded */
    WANT_BODY = 2,   /* texts, links and parts */
    WANT_DIGEST = 4,
    WANT_DATE = 8,
    WANT_SENDER = 32, /* the mailing list, or else the sender's domain */
    WANT_DOUBTFUL = 16, /* tokens of doubtful text: to classify a message, not to learn it */
};

/* Why a message could not be read. FAILED_ANSWER: Python raised an exception. */
enum failure { FAILED_NOT, FAILED_MEMORY, FAILED_ASSERTION, FAILED_ANSWER };

/* How a header field is read. */
enum header_method {
    METHOD_IGNORED,
    METHOD_VOLATILE,    /* ignored, and left out of the message's digest */
    METHOD_PRESENCE,    /* one token for the presence of the field; the methods below also add this token */
    METHOD_WHOLE_WORDS, /* words of the value, which are never split */
    METHOD_SUBJECT,     /* words of the value, split like the words of a text; once with and once without a prefix */
    METHOD_RECEIVED,    /* hosts and networks in the value, without the date */
    METHOD_SIGNATURE,   /* names in the value, without the parameters that differ in each message */
};

/* The kinds of questions to Python. A question is one text or two, and its answer is a text. */
enum ask {
    ASK_CHARACTERS,                /* a character -> a struct character for each character of its block of 256 */
    ASK_DECODE,                    /* octets and a charset -> UTF-8; NULL: the core must decode the octets itself */
    ASK_COMPOSE,                   /* UTF-8 -> UTF-8 with composed letters */
    ASK_HOST,                      /* a host that is not ASCII or has punycode -> the host in lower case */
    ASK_STEM,                      /* a word -> its stem */
    ASK_SPLIT,                     /* a text -> the words of the text, one on each line */
    ASK_PDF, ASK_SMIME, ASK_TNEF,  /* a document -> its content as a MIME entity, which may be empty */
};

struct answer {
    span text;
    bool is_whole; /* the text is the whole content of the document */
};

/* Writes Python's answer to a question. Returns false if Python raised an exception; then the message cannot be read.
 * The text of the answer stays in place until the next question. answerer: the argument of reader_new. */
PYTHON_FUNCTION bool answer_question(void *answerer, int question, const span *text, const span *other_text,
                                     struct answer *answer);

/* Returns a new reader; NULL if there is too little memory. Each of the n rules for header fields has a name, a method
 * of enum header_method, and a prefix of tokens. A name that ends with "*" stands for all names with this beginning.
 * Names and prefixes must stay in memory. */
struct reader *reader_new(void *answerer, unsigned ngrams, bool body_only, bool stems, bool splits,
                          const char *const names[], const char *const prefixes[], const uint8_t *methods, size_t n);
void reader_delete(struct reader *reader);
/* Reads n messages, and adds a row for each message to the vocabulary. Writes the length of each row, the number of its
 * plain tokens, which come first, and the digest, date, sender and truncations of each message. If vocabulary is NULL,
 * adds no rows. Afterwards message_list returns the lists of the last message. wants: a sum of enum want. */
enum failure read_messages(struct reader *reader, struct vocabulary *vocabulary, const char *const raws[],
                           const size_t sizes[], size_t n, unsigned wants, uint32_t *lengths, uint32_t *n_plain,
                           uint8_t *digests, uint8_t *dates, int64_t *senders, uint32_t *truncations);
/* Writes the address of a list of the last message, and returns the length of the list. which: 0 headers, 1 texts, 2
 * links, 3 doubtful texts, 4 files. */
size_t message_list(const struct reader *reader, int which, const span **items);

/* ---- Scores of messages by naive Bayes and its correction: model/pooling.py and model/correction.py ---- */

enum event_model { BOOLEAN_MODEL, MULTINOMIAL_MODEL, BERNOULLI_MODEL };

/* A model of n_tokens tokens.
 *
 * is_sum: log likelihoods are added up, and groups and exponents are not used
 * n_word_groups: the first groups, whose tokens are words; those of the first are single words, and those of the last
 *     group structure
 * structure_weight: of a token of structure in typicality, where a word has 1
 * information_halves: the exponent of a token's information, in halves, because sqrt is three times as fast as pow
 * scale: factor of naive Bayes' scores
 * unit: nats of one unit of corrections
 * logs: log(n + alpha) of each number n below n_logs
 * counts: of each token, a row of all classes: occurrences in a multinomial model, messages in the others
 * groups: of each token; -1 - group if the token is not in the model
 * corrections: of each token, a row of all classes, in units; NULL: the model has no correction
 * documents, totals: of each class its messages, and the sum of its counts
 * spam: the class that doubtful tokens may speak for; n_classes if there is none
 * intercepts: a row of all classes, the scores of a message without tokens; for messages that the model has learned, a
 *     row for each class of the message
 */
struct score_model {
    enum event_model event_model;
    bool is_sum;
    size_t n_classes, n_groups, n_word_groups, n_tokens, n_logs, information_halves, spam;
    double alpha, group_exponent, prior_weight, structure_weight, scale, unit;
    int64_t vocabulary_size;
    const double *logs;
    const uint32_t *counts;
    const int8_t *groups;
    const int64_t *corrections, *documents, *totals;
    const double *intercepts;
};

/* Messages, and results. Message i has the cells from bounds[i] to bounds[i + 1].
 *
 * ids: the token of each cell; the tokens of a message are distinct
 * occurrences: of the token of each cell in its message; only multinomial models use them
 * is_doubtful: of each cell, whether the token occurs only in text that may be hidden; NULL: none does
 * labels: the class of each message. The model has learned the messages, each is scored by the model without it, and
 *     a token that no other message has is not in the model. NULL: the model has not learned the messages
 * scores: for each message a row of all classes, in nats
 * typicality: for each message a row of all classes, the weighted mean of P(class | token) over words and structure
 * votes: for each message how much evidence the model has; 0 if it has none of the tokens
 * weights: for each cell a row of all classes, its part of the scores; NULL: not wanted. Zeros before the call
 * correction_weights: as weights, the part of the correction
 */
struct score_rows {
    size_t n_messages;
    const int64_t *bounds;
    const int32_t *ids;
    const int64_t *occurrences, *labels;
    const bool *is_doubtful;
    double *scores, *typicality, *votes, *weights, *correction_weights;
};

/* Scores messages. reference: the model by whose tokens typicality is measured, of the same tokens and classes; the
 * typicality of a class without messages is 0. Returns false if there is too little memory. */
bool score_messages(const struct score_model *model, const struct score_model *reference, const struct score_rows *rows);

/* ---- The fit of the correction: model/correction.py. Each sum is computed in a fixed order, so that the results are
 * the same on all machines. ---- */

/* The problem: n messages whose scores are corrected.
 *
 * columns: the tokens of message i are columns[begins[i]] to columns[ends[i] - 1], without repetition
 * values: 1/sqrt(number of tokens) of each message
 * offsets: naive Bayes' scores in nats, a row of all classes for each message
 * labels: the class number of each message
 * visits: the n_visits messages that a call visits, each once
 * contributions: a row for each message; NULL if the weights contain no contributions of these messages
 * weights: a row for each token
 * penalty: C of the formula, the largest coefficient of a message with trust 1
 * noise: the share of labels that are wrong
 * unit: nats of one unit
 * least: nats; a smaller coefficient of a message becomes 0
 * least_change, most_change: nats; a smaller change of a coefficient is not made, and a larger one in part
 *
 * Contributions and weights are whole numbers of units. Their rows have row_size numbers: one for each class except the
 * first, because the numbers of all classes sum to 0.
 */
struct fit {
    const int64_t *begins, *ends;
    const int32_t *columns;
    const double *values, *offsets;
    const int64_t *labels, *visits;
    int64_t *contributions, *weights;
    size_t n_visits, row_size;
    double penalty, noise, unit, least, least_change, most_change;
};

/* Fits the contribution of each visited message, and adds its changes to the weights. Returns the largest change of a
 * coefficient, in nats; -1 if there is too little memory. */
double fit_sweep(const struct fit *fit);
/* Subtracts the contributions of the visited messages from the weights. */
void fit_take_out(const struct fit *fit);
/* Writes a row of scores, in nats, for each visited message. They do not include the message's own
 * contribution. Returns false if there is too little memory. */
bool fit_scores(const struct fit *fit, double *scores);

/* ---- The curves of the calibration: model/calibration.py ---- */

enum { CURVE_BINS = 512 }; /* of a histogram */

/* A curve: log-odds = slope * compressed margin + intercept. It has two sides: the messages of its class, and all
 * others. counts and imagined have a row of CURVE_BINS for each side. */
struct curve {
    const int64_t *counts;              /* scored messages; a negative number counts as 0 */
    const double *imagined;             /* messages that the prior of the curve adds */
    const double *margins;              /* of the bins, in nats */
    double knee;                        /* nats */
    double max_log_odds;                /* nats: no probability is 0 or 1 */
    double prior_noise, prior_messages; /* the prior of the noise: its mean, and its weight in messages */
    size_t rounds;                      /* each computes trust and noise from the last curve, then the next */
    double slope, intercept;            /* results; the intercept is in nats */
    double wrong_own, wrong_others;     /* results: expected numbers of scored messages whose label is wrong */
};

/* Writes the results of a curve. */
void curve_fit(struct curve *curve);

/* ---- Trust in labels: model/trust.py ---- */

/* Writes the probability that each of n labels is right. odds: (1 - p)/p, where p is the probability of the label by a
 * model without the message. noise: the share of labels that are wrong. */
void compute_trust(const double *odds, size_t n, double noise, double *trusts);

/* ---- Tokens of a model file, in buckets: store/buckets.py ---- */

/* What is wrong with a bucket of a file, or with the figures that a file should have. */
enum bucket_problem {
    BUCKET_WHOLE, BUCKET_CUT_HASHES, BUCKET_HASH_ORDER, BUCKET_WIDTH, BUCKET_CUT_RECORDS, BUCKET_PLACE, BUCKET_LABEL,
    BUCKET_FIGURES, BUCKET_CUT_TEXTS, BUCKET_CUT_VECTORS, BUCKET_INFINITE, BUCKET_NO_TEXT, BUCKET_COUNT, BUCKET_WEIGHT,
    BUCKET_MEMORY,
};

/* The bytes of the smallest and of the largest record, and the byte after the text of a token, which no text has. */
enum { MIN_RECORD = 4, MAX_RECORD = 15, END_OF_TEXT = 0xFF };
enum { MAX_UNITS = 0x7FFFFFFF }; /* of a weight, and of a contribution */

/* n buckets of a file, in which nothing is trusted. A column has the bytes of one bucket after the other, and its ends
 * are where the bytes of each bucket end.
 *
 * keys: the lowest hash that each bucket may have, ascending
 * hashes, records: of the tokens; a record has the bytes that widths says
 * texts, vectors: of the tokens; buckets_read does not read them
 * n_classes: of the model
 * vector_bytes: of the vector of a token
 */
struct buckets {
    size_t n, n_classes, vector_bytes;
    const int64_t *keys, *widths, *hash_ends, *record_ends, *text_ends, *vector_ends;
    const uint8_t *hashes, *records, *texts, *vectors;
};

/* Writes the figures of n tokens, whose hashes ascend: for each token and class the messages, the occurrences and the
 * weight. The figures of a token that no bucket has stay as they are. */
enum bucket_problem buckets_read(const struct buckets *buckets, const int64_t *hashes, size_t n, int64_t *figures);
/* Checks all columns. Writes where the text of each token begins, and where END_OF_TEXT of the last one ends. */
enum bucket_problem buckets_find_texts(const struct buckets *buckets, int64_t *begins);

/* n tokens that get other figures, ascending by hash.
 *
 * figures: as in buckets_read. A token of zeros is deleted
 * text_begins, text_lengths: of the texts; the length is -1 for a token that a bucket has
 * vectors: NULL: all vectors stay, and new tokens have zeros
 */
struct changed_tokens {
    size_t n;
    const int64_t *hashes, *figures, *text_begins, *text_lengths;
    const uint8_t *texts, *vectors;
};

/* What happens to a bucket. RECORDS_CHANGED: the tokens stay the same, and only the records are written. */
enum bucket_action { RECORDS_CHANGED, BUCKET_WRITTEN, BUCKET_DELETED };

/* The buckets that change, as in struct buckets; RECORDS_CHANGED has no hashes, texts and vectors. A bucket of more than
 * max_tokens tokens is divided into buckets of new_tokens tokens. The caller allocates memory for all old buckets and
 * tokens, and for all changed ones. */
struct changed_buckets {
    size_t n, max_tokens, new_tokens;
    uint8_t *actions;
    int64_t *keys, *widths, *hash_ends, *record_ends, *text_ends, *vector_ends;
    uint8_t *hashes, *records, *texts, *vectors;
};

/* Writes the buckets that change if tokens get other figures. The first bucket has the lowest hash of a new token. */
enum bucket_problem buckets_change(const struct buckets *buckets, const struct changed_tokens *changes,
                                   struct changed_buckets *changed);
