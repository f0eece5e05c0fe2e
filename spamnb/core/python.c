/* The functions that Python calls by ctypes, besides the functions of vocabulary.h, fit.h and curve.h.
 * spamnb/core/library.py loads the library. The Python caller of a C function checks the sizes of the arrays that it
 * passes. The core does not use Python's C interface: it passes its questions to an answerer, a function that holds
 * Python's lock only as long as the answer takes. */
#include "reader.h"

#include <stdlib.h>

/* Makes the tables of the library. Called once, before any other function. names, texts: the n names of HTML's
 * character references, in ascending order, and their characters, which must stay in memory. secret: the key of all
 * hash tables. */
void core_begin(const char *const names[], const char *const texts[], size_t n, const uint64_t secret[2]) {
    memcpy(SECRET, secret, sizeof SECRET);
    references_begin(names, texts, n);
    words_begin();
    tags_begin();
    style_begin();
}

static struct group_table groups;

/* Registers the n prefixes of tokens with their groups. other_groups: the groups of words, of pairs and of header
 * fields. Called once, before vocabulary_describe. The prefixes must stay in memory. Returns false if there is too
 * little memory. */
bool kinds_begin(const char *const prefixes[], const uint8_t *prefix_groups, size_t n, const uint8_t other_groups[3]) {
    struct token_kind *kinds = calloc(n + 1, sizeof *kinds);
    for (size_t i = 0; kinds && i < n; i++)
        kinds[i] = (struct token_kind){span_of_text(prefixes[i]), prefix_groups[i]};
    groups = (struct group_table){kinds, n, other_groups[0], other_groups[1], other_groups[2]};
    return kinds != NULL;
}

/* Writes the file_hash and the group of each of the n tokens with these ids. */
void vocabulary_describe(struct vocabulary *vocabulary, const uint32_t *ids, size_t n, uint64_t *hashes,
                         uint8_t *token_groups) {
    for (size_t i = 0; i < n; i++) {
        hashes[i] = vocabulary_file_hash(vocabulary, ids[i]);
        token_groups[i] = group_of(&groups, vocabulary_text(vocabulary, ids[i]));
    }
}

/* ---- Reader ---- */

/* Returns a new reader; NULL if there is too little memory. Each of the n rules for header fields has a name, a method
 * of enum header_method, and a prefix of tokens. A name that ends with "*" stands for all names with this beginning.
 * Names and prefixes must stay in memory. */
struct reader *reader_new(answerer answerer, unsigned ngrams, bool body_only, bool stems, bool splits,
                          const char *const names[], const char *const prefixes[], const uint8_t *methods, size_t n) {
    struct reader *reader = calloc(1, sizeof *reader);
    struct header_rule *rules = calloc(n + 1, sizeof *rules);
    if (!reader || !rules) {
        free(reader), free(rules);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        rules[i] = (struct header_rule){
            .name = span_of_text(names[i]), .method = methods[i], .prefix = span_of_text(prefixes[i])};
        rules[i].is_beginning = !is_empty(rules[i].name) && rules[i].name.end[-1] == '*';
        rules[i].name.end -= rules[i].is_beginning;
    }
    reader->rules = (struct rule_table){.rules = rules, .n_rules = n, .other = {.method = METHOD_WHOLE_WORDS}};
    rules_sort(&reader->rules);
    reader->answerer = answerer;
    reader->options = (struct options){ngrams, body_only, stems, splits};
    return reader;
}

void reader_delete(struct reader *reader) {
    arena_free(&reader->arena);
    free(reader->rules.rules);
    free(reader);
}

/* Reads n messages, and adds a row for each message to the vocabulary. Writes the length of each row, and the digest,
 * date and truncations of each message. If vocabulary is NULL, adds no rows. Afterwards message_list returns the lists
 * of the last message. */
enum failure read_messages(struct reader *reader, struct vocabulary *vocabulary, const uint8_t *const raws[],
                           const size_t sizes[], size_t n, unsigned wants, uint32_t *lengths, uint8_t *digests,
                           uint8_t *dates, uint32_t *truncations) {
    const struct message *message = &reader->message;
    reader->vocabulary = vocabulary;
    for (size_t i = 0; i < n; i++) {
        enum failure failure = read_message(reader, span_of(raws[i], sizes[i]), wants);
        if (failure)
            return failure;
        memcpy(digests + i * DIGEST, message->digest, DIGEST);
        memcpy(dates + i * DATE, message->date, DATE);
        truncations[i] = message->truncations;
        if (vocabulary && !row_end(vocabulary, &lengths[i]))
            return FAILED_MEMORY;
    }
    return FAILED_NOT;
}

/* Writes the address of a list of the last message, and returns the length of the list. which: 0 headers, 1 texts, 2
 * links, 3 hidden, 4 files. */
size_t message_list(const struct reader *reader, int which, const span **items) {
    const struct message *message = &reader->message;
    const span_list *const lists[] = {&message->headers, &message->texts, &message->links, &message->hidden,
                                      &message->files};
    *items = lists[which]->items;
    return lists[which]->count;
}
