/* The functions of interface.h for the reader and its tables. The core does not use Python's C interface: it passes its
 * questions to answer_question. */
#include "reader.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

bool core_begin(const char *references, size_t n, const char *secret) {
    memcpy(SECRET, secret, sizeof SECRET);
    words_begin();
    tags_begin();
    style_begin();
    return references_begin(references, n);
}

void give_memory_back(void) {
#ifdef __GLIBC__
    /* By default glibc keeps freed arrays of up to 32 MB, in holes between others: a sixth of the peak of training. With
     * less than these bytes, arrays of batches would be cleared by the system again and again. */
    mallopt(M_MMAP_THRESHOLD, 1 << 22);
    mallopt(M_TRIM_THRESHOLD, 1 << 23);
    malloc_trim(0);
#endif
}

static struct group_table group_table;

bool kinds_begin(const char *const prefixes[], const uint8_t *prefix_groups, size_t n, const uint8_t *other_groups) {
    struct token_kind *kinds = calloc(n + 1, sizeof *kinds);
    for (size_t i = 0; kinds && i < n; i++)
        kinds[i] = (struct token_kind){span_of_text(prefixes[i]), prefix_groups[i]};
    group_table = (struct group_table){kinds, n, other_groups[0], other_groups[1], other_groups[2]};
    return kinds != NULL;
}

void vocabulary_describe(struct vocabulary *vocabulary, const uint32_t *ids, size_t n, int64_t *hashes,
                         int8_t *groups) {
    for (size_t i = 0; i < n; i++) {
        hashes[i] = (int64_t)vocabulary_file_hash(vocabulary, ids[i]);
        groups[i] = (int8_t)group_of(&group_table, vocabulary_text(vocabulary, ids[i]));
    }
}

/* ---- Reader ---- */

struct reader *reader_new(void *answerer, unsigned ngrams, bool body_only, bool stems, bool splits,
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

enum failure read_messages(struct reader *reader, struct vocabulary *vocabulary, const char *const raws[],
                           const size_t sizes[], size_t n, unsigned wants, uint32_t *lengths, uint32_t *n_plain,
                           uint8_t *digests, uint8_t *dates, int64_t *senders, uint32_t *truncations) {
    const struct message *message = &reader->message;
    reader->vocabulary = vocabulary;
    for (size_t i = 0; i < n; i++) {
        enum failure failure = read_message(reader, span_of(raws[i], sizes[i]), wants);
        if (failure)
            return failure;
        memcpy(digests + i * DIGEST, message->digest, DIGEST);
        memcpy(dates + i * DATE, message->date, DATE);
        senders[i] = message->sender;
        truncations[i] = message->truncations;
        if (vocabulary && !row_end(vocabulary, &lengths[i], &n_plain[i]))
            return FAILED_MEMORY;
    }
    return FAILED_NOT;
}

size_t message_list(const struct reader *reader, int which, const span **items) {
    const struct message *message = &reader->message;
    const span_list *const lists[] = {&message->headers, &message->texts, &message->urls, &message->doubtful,
                                      &message->files};
    *items = lists[which]->items;
    return lists[which]->count;
}
