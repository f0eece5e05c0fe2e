/* The functions that Python calls by way of ctypes, besides those of vocabulary.h and fit.h. library.py loads them; the
 * Python function that calls one of them checks the sizes of its arrays. The core knows nothing of Python: what it asks
 * for while it reads goes to an answerer, a function that takes Python's lock for as long as it runs. */
#include "reader.h"

#include <stdlib.h>

/* Makes the tables of the library; once, before any other call. names, texts: the n references of HTML, ascending, whose
 * texts must stay where they are. secret: random. */
void core_begin(const char *const names[], const char *const texts[], size_t n, const uint64_t secret[2]) {
    memcpy(SECRET, secret, sizeof SECRET);
    references_begin(names, texts, n);
    words_begin();
    tags_begin();
    style_begin();
}

static struct group_table groups;

/* Registers the n prefixes of tokens with their groups, and the groups of words, pairs and header fields; once, before
 * vocabulary_describe. The texts must stay where they are. False without memory. */
bool kinds_begin(const char *const prefixes[], const uint8_t *of_prefixes, size_t n, const uint8_t other_groups[3]) {
    groups = (struct group_table){calloc(n + 1, sizeof *groups.kinds), n, other_groups[0], other_groups[1], other_groups[2]};
    for (size_t i = 0; groups.kinds && i < n; i++)
        groups.kinds[i] = (struct token_kind){span_of_text(prefixes[i]), of_prefixes[i]};
    return groups.kinds != NULL;
}

/* The hashes of tokens in model files, and their groups. */
void vocabulary_describe(struct vocabulary *vocabulary, const uint32_t *ids, size_t n, uint64_t *hashes, uint8_t *of_groups) {
    for (size_t i = 0; i < n; i++) {
        hashes[i] = vocabulary_file_hash(vocabulary, ids[i]);
        of_groups[i] = group_of(&groups, vocabulary_text(vocabulary, ids[i]));
    }
}

/* ---- Reader ---- */

/* The rules of header fields: n names, of which "*" at the end stands for any end, how to read each, and prefixes of
 * tokens. The texts must stay where they are. */
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

/* Reads n messages into rows, or without a vocabulary one for message_list; what is known of each goes to the arrays.
 * What failed, if anything. */
enum failure read_messages(struct reader *reader, struct vocabulary *vocabulary, const uint8_t *const raws[],
                           const size_t sizes[], size_t n, unsigned wants, uint32_t *lengths, uint8_t *digests,
                           uint8_t *dates, uint32_t *cuts) {
    const struct message *message = &reader->message;
    reader->vocabulary = vocabulary;
    for (size_t i = 0; i < n; i++) {
        enum failure failure = read_message(reader, span_of(raws[i], sizes[i]), wants);
        if (failure)
            return failure;
        memcpy(digests + i * DIGEST, message->digest, DIGEST);
        memcpy(dates + i * DATE, message->date, DATE);
        cuts[i] = message->cuts;
        if (vocabulary && !row_end(vocabulary, &lengths[i]))
            return FAILED_MEMORY;
    }
    return FAILED_NOT;
}

/* A list of texts of the message at hand, and how many there are. */
size_t message_list(const struct reader *reader, int which, const span **items) {
    const struct message *message = &reader->message;
    const span_list *const lists[] = {&message->headers, &message->texts, &message->links, &message->hidden};
    *items = lists[which]->items;
    return lists[which]->count;
}
