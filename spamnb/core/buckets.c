#include <stdlib.h>

#include "hash.h"

/* How many bytes a record has, and its numbers: its class, its messages, its occurrences less its messages, which have as
 * many bytes, and its weight. Before them is the place of the token in the bucket, in one byte. All records of a bucket
 * have one layout. Each layout is wider than the one before. The first lacks the weight, which is 0. */
struct layout {
    uint8_t width, label, count, weight;
};

static const struct layout LAYOUTS[] = {
    {MIN_RECORD, 1, 1, 0}, {6, 1, 1, 2}, {8, 1, 1, 4}, {10, 1, 2, 4}, {MAX_RECORD, 2, 4, 4}};

enum { HASH_BYTES = 8, NUMBERS = 3 /* of a cell */ };
static const uint32_t EXPONENT = 0x7F800000; /* bits of a float; all are set if it is infinite or no number */
static const size_t NONE = SIZE_MAX;

/* The figures of a token in a class. */
struct record {
    uint64_t place, label;
    int64_t messages, occurrences, weight;
};

/* A token of a bucket that changes. old: its number among the tokens of all buckets; changed: its number among the
 * changed tokens. NONE: it is not among them. */
struct place {
    int64_t hash;
    size_t old, changed;
};

/* Memory for buckets_change. begins, text_begins: of the records and of the text of each old token. */
struct scratch {
    size_t *begins;
    int64_t *text_begins;
    struct place *places;
    struct record *records;
};

/* Returns a number of 0, 1, 2 or 4 bytes. */
static inline uint64_t load_number(const uint8_t *at, size_t size) {
    if (size == 1)
        return at[0];
    return size == 2 ? at[0] | (uint64_t)at[1] << 8 : size ? load_32(at) : 0;
}

/* Writes the lowest bytes of a number, and returns where they end. */
static inline uint8_t *store_number(uint8_t *at, size_t size, uint64_t number) {
    for (; size--; number >>= 8)
        *at++ = (uint8_t)number;
    return at;
}

static int64_t load_hash(const uint8_t *at) { return (int64_t)load_64(at); }

/* Returns where the bytes of bucket n begin in a column. */
static int64_t begin_of(const int64_t *ends, size_t n) { return n ? ends[n - 1] : 0; }

static span column(const uint8_t *bytes, const int64_t *ends, size_t i) {
    return span_between(bytes + begin_of(ends, i), bytes + ends[i]);
}

static const struct layout *layout_of(int64_t width) {
    for (size_t i = 0; i < COUNT_OF(LAYOUTS); i++)
        if (LAYOUTS[i].width == width)
            return &LAYOUTS[i];
    return NULL;
}

static struct record parse_record(const uint8_t *at, const struct layout *layout) {
    struct record record = {.place = *at++};
    record.label = load_number(at, layout->label), at += layout->label;
    record.messages = (int64_t)load_number(at, layout->count), at += layout->count;
    record.occurrences = record.messages + (int64_t)load_number(at, layout->count), at += layout->count;
    uint64_t weight = load_number(at, layout->weight);
    record.weight = layout->weight == 2 ? (int16_t)weight : (int32_t)weight;
    return record;
}

/* Checks the figures of a token in a class. */
static enum bucket_problem check_figures(const struct record *record) {
    if (record->messages < 0 || record->occurrences < record->messages || (!record->messages && record->occurrences))
        return BUCKET_FIGURES;
    if (record->occurrences > UINT32_MAX)
        return BUCKET_COUNT;
    return record->weight > MAX_UNITS || record->weight < -MAX_UNITS ? BUCKET_WEIGHT : BUCKET_WHOLE;
}

/* Checks the records of a bucket of n tokens, and writes where the records of each token begin. */
static enum bucket_problem check_records(const struct buckets *buckets, size_t i, size_t n, size_t *begins) {
    span records = column(buckets->records, buckets->record_ends, i);
    const struct layout *layout = layout_of(buckets->widths[i]);
    if (!layout)
        return BUCKET_WIDTH;
    if (size_of(records) % layout->width)
        return BUCKET_CUT_RECORDS;
    size_t next = 0, least_label = 0;
    for (; records.at < records.end; records.at += layout->width) {
        struct record record = parse_record(records.at, layout);
        if (record.place >= n || record.place + 1 < next)
            return BUCKET_PLACE;
        if (record.place >= next)
            least_label = 0;
        while (next <= record.place)
            begins[next++] = (size_t)(records.at - buckets->records);
        if (record.label >= buckets->n_classes || record.label < least_label)
            return BUCKET_LABEL;
        if (check_figures(&record))
            return BUCKET_FIGURES;
        least_label = record.label + 1;
    }
    while (next <= n)
        begins[next++] = (size_t)(records.end - buckets->records);
    return BUCKET_WHOLE;
}

static size_t count_tokens(const struct buckets *buckets) {
    return buckets->n ? (size_t)buckets->hash_ends[buckets->n - 1] / HASH_BYTES : 0;
}

/* Checks the hashes and the records of buckets. Writes where the records of each token begin, and where the last one
 * ends. */
static enum bucket_problem check_buckets(const struct buckets *buckets, size_t *begins) {
    int64_t last = 0;
    for (size_t i = 0, n_before = 0; i < buckets->n; i++) {
        span hashes = column(buckets->hashes, buckets->hash_ends, i);
        size_t n = size_of(hashes) / HASH_BYTES;
        if (size_of(hashes) % HASH_BYTES)
            return BUCKET_CUT_HASHES;
        for (; hashes.at < hashes.end; hashes.at += HASH_BYTES, n_before++) {
            int64_t hash = load_hash(hashes.at);
            bool is_in_range = hash >= buckets->keys[i] && (i + 1 == buckets->n || hash < buckets->keys[i + 1]);
            if (!is_in_range || (n_before && hash <= last))
                return BUCKET_HASH_ORDER;
            last = hash;
        }
        enum bucket_problem problem = check_records(buckets, i, n, begins);
        if (problem)
            return problem;
        begins += n;
    }
    return BUCKET_WHOLE;
}

enum bucket_problem buckets_read(const struct buckets *buckets, const int64_t *hashes, size_t n, int64_t *figures) {
    size_t *begins = calloc(count_tokens(buckets) + 1, sizeof *begins), token = 0, k = 0;
    enum bucket_problem problem = begins ? check_buckets(buckets, begins) : BUCKET_MEMORY;
    for (size_t i = 0; !problem && i < buckets->n; i++) {
        const struct layout *layout = layout_of(buckets->widths[i]);
        span stored = column(buckets->hashes, buckets->hash_ends, i);
        for (; stored.at < stored.end && k < n; stored.at += HASH_BYTES, token++) {
            int64_t hash = load_hash(stored.at);
            while (k < n && hashes[k] < hash)
                k++;
            if (k == n || hashes[k] != hash)
                continue;
            for (size_t at = begins[token]; at < begins[token + 1]; at += layout->width) {
                struct record record = parse_record(buckets->records + at, layout);
                int64_t *cell = figures + (k * buckets->n_classes + record.label) * NUMBERS;
                cell[0] = record.messages;
                cell[1] = record.occurrences;
                cell[2] = record.weight;
            }
        }
    }
    free(begins);
    return problem;
}

/* Checks the texts and vectors of bucket i, and writes where the text of each token begins, and where the last one
 * ends. begins: of all tokens. */
static enum bucket_problem find_texts(const struct buckets *buckets, size_t i, int64_t *begins) {
    span texts = column(buckets->texts, buckets->text_ends, i);
    span vectors = column(buckets->vectors, buckets->vector_ends, i);
    size_t token = (size_t)begin_of(buckets->hash_ends, i) / HASH_BYTES, end = (size_t)buckets->hash_ends[i] / HASH_BYTES;
    if (size_of(vectors) != (end - token) * buckets->vector_bytes)
        return BUCKET_CUT_VECTORS;
    for (; vectors.at < vectors.end; vectors.at += sizeof(float))
        if ((load_32(vectors.at) & EXPONENT) == EXPONENT)
            return BUCKET_INFINITE;
    for (; token < end; token++) {
        const uint8_t *last = find_byte(texts, END_OF_TEXT);
        if (!last)
            return BUCKET_CUT_TEXTS;
        begins[token] = texts.at - buckets->texts;
        texts.at = last + 1;
    }
    begins[token] = texts.at - buckets->texts;
    return is_empty(texts) ? BUCKET_WHOLE : BUCKET_CUT_TEXTS;
}

enum bucket_problem buckets_find_texts(const struct buckets *buckets, int64_t *begins) {
    size_t *record_begins = calloc(count_tokens(buckets) + 1, sizeof *record_begins);
    enum bucket_problem problem = record_begins ? check_buckets(buckets, record_begins) : BUCKET_MEMORY;
    for (size_t i = 0; !problem && i < buckets->n; i++)
        problem = find_texts(buckets, i, begins);
    free(record_begins);
    return problem;
}

/* Writes the records of a token, and returns their number. */
static size_t read_records(const struct buckets *buckets, const struct layout *layout, const size_t *begins,
                           const struct changed_tokens *changes, const struct place *place, struct record *records) {
    size_t n = 0;
    if (place->changed == NONE) {
        for (size_t at = begins[place->old]; at < begins[place->old + 1]; at += layout->width)
            records[n++] = parse_record(buckets->records + at, layout);
        return n;
    }
    const int64_t *cell = changes->figures + place->changed * buckets->n_classes * NUMBERS;
    for (size_t label = 0; label < buckets->n_classes; label++, cell += NUMBERS)
        if (cell[0] || cell[1] || cell[2])
            records[n++] = (struct record){0, label, cell[0], cell[1], cell[2]};
    return n;
}

/* Returns the narrowest layout that holds a record. */
static const struct layout *narrowest_layout(const struct record *record) {
    int64_t further = record->occurrences - record->messages;
    int64_t count = record->messages > further ? record->messages : further;
    if (count > UINT16_MAX || record->label > UINT8_MAX)
        return &LAYOUTS[4];
    if (count > UINT8_MAX)
        return &LAYOUTS[3];
    return &LAYOUTS[record->weight != (int16_t)record->weight ? 2 : record->weight != 0];
}

/* Returns a key that is above the hash before it, and not above its own hash. Of all such keys it is the one with the
 * fewest bits, so that a deleted token's hash does not stay as a key. */
static int64_t separate(int64_t before, int64_t hash) {
    uint64_t bits = (uint64_t)(hash ^ before);
    for (int shift = 1; shift < 64; shift *= 2) /* fill the bits below the highest one in which the two differ */
        bits |= bits >> shift;
    return (int64_t)((uint64_t)hash & ~(bits >> 1));
}

static uint8_t *put_bytes(uint8_t *at, const uint8_t *bytes, size_t n) {
    if (n)
        memcpy(at, bytes, n);
    return at + n;
}

/* Writes the hashes, texts and vectors of the n tokens of a bucket that was bucket i. */
static enum bucket_problem write_tokens(const struct buckets *buckets, size_t i, const struct changed_tokens *changes,
                                        const struct scratch *scratch, const struct place *places, size_t n,
                                        struct changed_buckets *changed) {
    size_t bytes = buckets->vector_bytes, first = (size_t)begin_of(buckets->hash_ends, i) / HASH_BYTES;
    const uint8_t *vectors = buckets->vectors + begin_of(buckets->vector_ends, i);
    uint8_t *hash = changed->hashes + begin_of(changed->hash_ends, changed->n);
    uint8_t *text = changed->texts + begin_of(changed->text_ends, changed->n);
    uint8_t *vector = changed->vectors + begin_of(changed->vector_ends, changed->n);
    for (size_t k = 0; k < n; k++) {
        size_t old = places[k].old, new = places[k].changed;
        hash = store_number(hash, HASH_BYTES, (uint64_t)places[k].hash);
        const uint8_t *copied = NULL;
        if (old != NONE) {
            const int64_t *begins = scratch->text_begins + old;
            text = put_bytes(text, buckets->texts + begins[0], (size_t)(begins[1] - begins[0]));
            copied = vectors + (old - first) * bytes;
        } else {
            if (changes->text_lengths[new] < 0)
                return BUCKET_NO_TEXT;
            text = put_bytes(text, changes->texts + changes->text_begins[new], (size_t)changes->text_lengths[new]);
            *text++ = END_OF_TEXT;
            copied = changes->vectors ? changes->vectors + new * bytes : NULL;
        }
        if (copied)
            vector = put_bytes(vector, copied, bytes);
        else
            for (size_t byte = 0; byte < bytes; byte++)
                *vector++ = 0;
    }
    changed->hash_ends[changed->n] = hash - changed->hashes;
    changed->text_ends[changed->n] = text - changed->texts;
    changed->vector_ends[changed->n] = vector - changed->vectors;
    return BUCKET_WHOLE;
}

/* Writes the records of the n tokens of a bucket that was bucket i. */
static enum bucket_problem write_records(const struct buckets *buckets, size_t i, const struct changed_tokens *changes,
                                         const struct scratch *scratch, const struct place *places, size_t n,
                                         struct changed_buckets *changed) {
    const struct layout *old_layout = layout_of(buckets->widths[i]), *layout = LAYOUTS;
    size_t n_records = 0;
    for (size_t k = 0; k < n; k++) {
        struct record *records = scratch->records + n_records;
        size_t n_of_token = read_records(buckets, old_layout, scratch->begins, changes, &places[k], records);
        for (size_t j = 0; j < n_of_token; j++) {
            records[j].place = k;
            enum bucket_problem problem = check_figures(&records[j]);
            if (problem)
                return problem;
            const struct layout *needed = narrowest_layout(&records[j]);
            layout = needed > layout ? needed : layout;
        }
        n_records += n_of_token;
    }
    uint8_t *at = changed->records + begin_of(changed->record_ends, changed->n);
    for (size_t k = 0; k < n_records; k++) {
        const struct record *record = &scratch->records[k];
        *at++ = (uint8_t)record->place;
        at = store_number(at, layout->label, record->label);
        at = store_number(at, layout->count, (uint64_t)record->messages);
        at = store_number(at, layout->count, (uint64_t)(record->occurrences - record->messages));
        at = store_number(at, layout->weight, (uint64_t)record->weight);
    }
    changed->record_ends[changed->n] = at - changed->records;
    changed->widths[changed->n] = layout->width;
    return BUCKET_WHOLE;
}

/* Joins the old tokens of bucket i with the changed tokens from begin to end, and writes the places of those that are
 * used. Returns their number. Writes whether the bucket gets or loses a token. */
static size_t join_tokens(const struct buckets *buckets, size_t i, const struct changed_tokens *changes, size_t begin,
                          size_t end, struct place *places, bool *has_other_tokens) {
    span stored = column(buckets->hashes, buckets->hash_ends, i);
    size_t token = (size_t)begin_of(buckets->hash_ends, i) / HASH_BYTES, n = 0, n_cells = buckets->n_classes * NUMBERS;
    *has_other_tokens = false;
    while (!is_empty(stored) || begin < end) {
        int64_t hash = is_empty(stored) ? INT64_MAX : load_hash(stored.at);
        bool is_changed = begin < end && (is_empty(stored) || changes->hashes[begin] <= hash);
        bool is_old = !is_empty(stored) && (!is_changed || changes->hashes[begin] == hash), is_used = !is_changed;
        for (size_t j = 0; is_changed && !is_used && j < n_cells; j++)
            is_used = changes->figures[begin * n_cells + j] != 0;
        if (is_used)
            places[n++] = (struct place){is_changed ? changes->hashes[begin] : hash, is_old ? token : NONE,
                                         is_changed ? begin : NONE};
        *has_other_tokens |= is_used != is_old;
        if (is_old)
            stored.at += HASH_BYTES, token++;
        begin += is_changed;
    }
    return n;
}

/* Writes what becomes of bucket i if the changed tokens from begin to end, one or more, are in its range. */
static enum bucket_problem change_bucket(const struct buckets *buckets, size_t i, const struct changed_tokens *changes,
                                         size_t begin, size_t end, const struct scratch *scratch,
                                         struct changed_buckets *changed) {
    bool has_other_tokens;
    const struct place *places = scratch->places;
    size_t n = join_tokens(buckets, i, changes, begin, end, scratch->places, &has_other_tokens), size = n;
    enum bucket_problem problem = BUCKET_WHOLE;
    if (n > changed->max_tokens) {
        size = changed->new_tokens;
        has_other_tokens = true;
    }
    if (has_other_tokens)
        problem = find_texts(buckets, i, scratch->text_begins);
    size_t n_parts = n > changed->max_tokens ? (n + size - 1) / size : 1;
    for (size_t part = 0; !problem && part < n_parts; part++) {
        size_t first = part * size, n_part = n - first < size ? n - first : size, k = changed->n;
        changed->keys[k] = part ? separate(places[first - 1].hash, places[first].hash) : buckets->keys[i];
        changed->actions[k] = !n ? BUCKET_DELETED : has_other_tokens ? BUCKET_WRITTEN : RECORDS_CHANGED;
        changed->hash_ends[k] = begin_of(changed->hash_ends, k);
        changed->text_ends[k] = begin_of(changed->text_ends, k);
        changed->vector_ends[k] = begin_of(changed->vector_ends, k);
        problem = write_records(buckets, i, changes, scratch, places + first, n_part, changed);
        if (!problem && has_other_tokens)
            problem = write_tokens(buckets, i, changes, scratch, places + first, n_part, changed);
        changed->n++;
    }
    return problem;
}

enum bucket_problem buckets_change(const struct buckets *buckets, const struct changed_tokens *changes,
                                   struct changed_buckets *changed) {
    size_t n_old = count_tokens(buckets), begin = 0;
    struct scratch scratch = {.begins = calloc(n_old + 1, sizeof *scratch.begins)};
    scratch.text_begins = calloc(n_old + 1, sizeof *scratch.text_begins);
    scratch.places = calloc(n_old + changes->n + 1, sizeof *scratch.places);
    scratch.records = calloc(changed->max_tokens * buckets->n_classes + 1, sizeof *scratch.records);
    bool has_memory = scratch.begins && scratch.text_begins && scratch.places && scratch.records;
    enum bucket_problem problem = has_memory ? check_buckets(buckets, scratch.begins) : BUCKET_MEMORY;
    changed->n = 0;
    for (size_t i = 0; !problem && i < buckets->n; i++) {
        size_t end = begin;
        while (end < changes->n && (i + 1 == buckets->n || changes->hashes[end] < buckets->keys[i + 1]))
            end++;
        if (begin < end)
            problem = change_bucket(buckets, i, changes, begin, end, &scratch, changed);
        begin = end;
    }
    free(scratch.begins), free(scratch.text_begins), free(scratch.places), free(scratch.records);
    return problem;
}
