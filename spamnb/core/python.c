/* The functions that Python calls by way of ctypes, besides those of vocabulary.h and fit.h. library.py loads them; the
 * Python function that calls one of them checks the sizes of its arrays. The core knows nothing of Python: what it asks
 * for while it reads goes to an answerer, a function that takes Python's lock for as long as it runs. */
#include "reader.h"

#include <stdlib.h>

/* Makes the tables of the library; once, before any other call. names, texts: the n references of HTML, ascending, which
 * must stay in place. secret: the key of all hash tables. */
void core_begin(const char *const names[], const char *const texts[], size_t n, const uint64_t secret[2]) {
    memcpy(SECRET, secret, sizeof SECRET);
    references_begin(names, texts, n);
    words_begin();
    tags_begin();
    style_begin();
}

static struct group_table groups;

/* Registers the n prefixes of tokens with their groups, and the groups of words, pairs and header fields; once, before
 * vocabulary_describe. The texts must stay in place. False without memory. */
bool kinds_begin(const char *const prefixes[], const uint8_t *of_prefixes, size_t n, const uint8_t other_groups[3]) {
    struct token_kind *kinds = calloc(n + 1, sizeof *kinds);
    for (size_t i = 0; kinds && i < n; i++)
        kinds[i] = (struct token_kind){span_of_text(prefixes[i]), of_prefixes[i]};
    groups = (struct group_table){kinds, n, other_groups[0], other_groups[1], other_groups[2]};
    return kinds != NULL;
}

/* Writes the hashes in model files, and the groups, of the tokens with these ids. */
void vocabulary_describe(struct vocabulary *vocabulary, const uint32_t *ids, size_t n, uint64_t *hashes,
                         uint8_t *token_groups) {
    for (size_t i = 0; i < n; i++) {
        hashes[i] = vocabulary_file_hash(vocabulary, ids[i]);
        token_groups[i] = group_of(&groups, vocabulary_text(vocabulary, ids[i]));
    }
}

/* ---- Reader ---- */

/* Makes a reader; NULL without memory. The n rules of header fields have names, which may end with "*" for any end, how a
 * field is read, and prefixes of tokens. Their texts must stay in place. */
struct reader *reader_new(answerer answerer, unsigned ngrams, bool body_only, bool stems, bool splits,
                          const char *const names[], const char *const prefixes[], const uint8_t *hows, size_t n) {
    struct reader *reader = calloc(1, sizeof *reader);
    struct header_rule *rules = calloc(n + 1, sizeof *rules);
    if (!reader || !rules) {
        free(reader), free(rules);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        rules[i] = (struct header_rule){
            .name = span_of_text(names[i]), .how = hows[i], .prefix = span_of_text(prefixes[i])};
        rules[i].is_beginning = ends_with(rules[i].name, LITERAL("*"));
        rules[i].name.end -= rules[i].is_beginning;
    }
    reader->rules = (struct rule_table){.rules = rules, .n_rules = n, .other = {.how = HOW_NAMES}};
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

/* Reads n messages into rows of the vocabulary; without a vocabulary one message, for message_part. Writes the length of
 * each row, and each message's digest, date and truncations. */
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

/* Returns a list of the last message, and its length. */
size_t message_part(const struct reader *reader, int which, const span **items) {
    const struct message *message = &reader->message;
    const span_list *const lists[] = {&message->headers, &message->texts, &message->links, &message->hidden,
                                      &message->files};
    *items = lists[which]->items;
    return lists[which]->count;
}
