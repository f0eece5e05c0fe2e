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

enum { HASHES, RECORDS, TEXTS, VECTORS, N_COLUMNS };

/* A bucket in memory. bytes: its columns as in the file, one after the other; is_changed: the file has other ones. */
struct bucket {
    struct bucket_row row;
    uint8_t *bytes;
    bool is_changed;
};

struct buckets {
    struct bucket *items; /* ascending; their ranges have no hash in common */
    size_t n, room, n_tokens, n_classes, vector_bytes;
};

/* A token of a bucket that changes. old: its number in the bucket; changed: its number among the changed tokens. NONE: it
 * is not among them. */
struct place {
    int64_t hash;
    size_t old, changed;
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

static uint8_t *put_bytes(uint8_t *at, const uint8_t *bytes, size_t n) {
    if (n)
        memcpy(at, bytes, n);
    return at + n;
}

static int64_t load_hash(const uint8_t *at) { return (int64_t)load_64(at); }

static size_t count_tokens(const struct bucket *bucket) { return (size_t)bucket->row.sizes[HASHES] / HASH_BYTES; }

static size_t count_bytes(const struct bucket_row *row) {
    size_t n = 0;
    for (size_t i = 0; i < N_COLUMNS; i++)
        n += (size_t)row->sizes[i];
    return n;
}

static span column(const struct bucket *bucket, size_t number) {
    const uint8_t *at = bucket->bytes;
    for (size_t i = 0; i < number; i++)
        at += bucket->row.sizes[i];
    return span_of(at, (size_t)bucket->row.sizes[number]);
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

/* Checks the records of a bucket. */
static enum bucket_problem check_records(const struct bucket *bucket, size_t n_classes) {
    span records = column(bucket, RECORDS);
    const struct layout *layout = layout_of(bucket->row.width);
    if (!layout)
        return BUCKET_WIDTH;
    if (size_of(records) % layout->width)
        return BUCKET_CUT_RECORDS;
    size_t n = count_tokens(bucket), place = 0, least_label = 0;
    for (; records.at < records.end; records.at += layout->width) {
        struct record record = parse_record(records.at, layout);
        if (record.place >= n || record.place < place)
            return BUCKET_PLACE;
        if (record.place > place)
            least_label = 0;
        if (record.label >= n_classes || record.label < least_label)
            return BUCKET_LABEL;
        if (check_figures(&record))
            return BUCKET_FIGURES;
        place = record.place;
        least_label = record.label + 1;
    }
    return BUCKET_WHOLE;
}

/* Checks a bucket of a file. */
static enum bucket_problem check_bucket(const struct bucket *bucket, const struct buckets *buckets) {
    span hashes = column(bucket, HASHES), texts = column(bucket, TEXTS), vectors = column(bucket, VECTORS);
    size_t n = count_tokens(bucket);
    int64_t least = bucket->row.key;
    if (size_of(hashes) % HASH_BYTES)
        return BUCKET_CUT_HASHES;
    for (size_t i = 0; i < n; i++) {
        int64_t hash = load_hash(hashes.at + i * HASH_BYTES);
        if (hash < least || hash > bucket->row.last || (i && hash == least))
            return BUCKET_HASH_ORDER;
        least = hash;
    }
    enum bucket_problem problem = check_records(bucket, buckets->n_classes);
    if (problem)
        return problem;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *end = find_byte(texts, END_OF_TEXT);
        if (!end)
            return BUCKET_CUT_TEXTS;
        texts.at = end + 1;
    }
    if (!is_empty(texts))
        return BUCKET_CUT_TEXTS;
    if (size_of(vectors) != n * buckets->vector_bytes)
        return BUCKET_CUT_VECTORS;
    for (; vectors.at < vectors.end; vectors.at += sizeof(float))
        if ((load_32(vectors.at) & EXPONENT) == EXPONENT)
            return BUCKET_INFINITE;
    return BUCKET_WHOLE;
}

struct buckets *buckets_new(size_t n_classes, size_t vector_bytes) {
    struct buckets *buckets = calloc(1, sizeof *buckets);
    if (buckets)
        *buckets = (struct buckets){.n_classes = n_classes, .vector_bytes = vector_bytes};
    return buckets;
}

void buckets_delete(struct buckets *buckets) {
    for (size_t i = 0; i < buckets->n; i++)
        free(buckets->items[i].bytes);
    free(buckets->items);
    free(buckets);
}

size_t buckets_count_tokens(const struct buckets *buckets) { return buckets->n_tokens; }

/* Returns the index of the first bucket, from index begin on, whose range ends at the hash or above. */
static size_t find_bucket(const struct buckets *buckets, size_t begin, int64_t hash) {
    size_t end = buckets->n;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (buckets->items[middle].row.last < hash)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static bool is_in_range(const struct buckets *buckets, size_t i, int64_t hash) {
    return i < buckets->n && buckets->items[i].row.key <= hash;
}

void buckets_find_missing(const struct buckets *buckets, const int64_t *hashes, size_t n, bool *is_missing) {
    for (size_t k = 0, i = 0; k < n; k++) {
        i = find_bucket(buckets, i, hashes[k]);
        is_missing[k] = !is_in_range(buckets, i, hashes[k]);
    }
}

/* Makes room for n buckets at index i. Returns false if there is too little memory. */
static bool make_room(struct buckets *buckets, size_t i, size_t n) {
    if (buckets->n + n > buckets->room) {
        size_t room = buckets->n + n + buckets->room / 4;
        struct bucket *items = realloc(buckets->items, room * sizeof *items);
        if (!items)
            return false;
        buckets->items = items;
        buckets->room = room;
    }
    if (n && i < buckets->n)
        memmove(buckets->items + i + n, buckets->items + i, (buckets->n - i) * sizeof *buckets->items);
    return true;
}

enum bucket_problem buckets_load(struct buckets *buckets, const struct bucket_row *rows, size_t n, const uint8_t *bytes) {
    for (size_t k = 0, i = 0; k < n; bytes += count_bytes(&rows[k++])) {
        struct bucket bucket = {rows[k], NULL, false};
        i = find_bucket(buckets, i, rows[k].key);
        if (rows[k].last < rows[k].key || is_in_range(buckets, i, rows[k].last))
            return BUCKET_HASH_ORDER;
        size_t size = count_bytes(&rows[k]);
        bucket.bytes = malloc(size + 1);
        if (!bucket.bytes)
            return BUCKET_MEMORY;
        put_bytes(bucket.bytes, bytes, size);
        enum bucket_problem problem = check_bucket(&bucket, buckets);
        if (!problem && !make_room(buckets, i, 1))
            problem = BUCKET_MEMORY;
        if (problem) {
            free(bucket.bytes);
            return problem;
        }
        buckets->items[i] = bucket;
        buckets->n++;
        buckets->n_tokens += count_tokens(&bucket);
    }
    return BUCKET_WHOLE;
}

/* Returns the bucket of a hash, from index *i on, and writes its index and the hash's place; NULL if no bucket has the
 * hash. */
static const struct bucket *find_token(const struct buckets *buckets, size_t *i, int64_t hash, size_t *place) {
    *i = find_bucket(buckets, *i, hash);
    if (!is_in_range(buckets, *i, hash))
        return NULL;
    const struct bucket *bucket = &buckets->items[*i];
    for (*place = 0; *place < count_tokens(bucket); ++*place) {
        int64_t stored = load_hash(bucket->bytes + *place * HASH_BYTES);
        if (stored >= hash)
            return stored == hash ? bucket : NULL;
    }
    return NULL;
}

/* Returns the records of the token with this place, and moves records behind them. */
static span next_records(span *records, const struct layout *layout, size_t place) {
    while (records->at < records->end && *records->at < place)
        records->at += layout->width;
    span found = span_between(records->at, records->at);
    while (found.end < records->end && *found.end == place)
        found.end += layout->width;
    records->at = found.end;
    return found;
}

void buckets_read(const struct buckets *buckets, const int64_t *hashes, size_t n, int64_t *figures) {
    size_t i = 0, place;
    for (size_t k = 0; k < n; k++) {
        const struct bucket *bucket = find_token(buckets, &i, hashes[k], &place);
        if (!bucket)
            continue;
        const struct layout *layout = layout_of(bucket->row.width);
        span stored = column(bucket, RECORDS), records = next_records(&stored, layout, place);
        for (; records.at < records.end; records.at += layout->width) {
            struct record record = parse_record(records.at, layout);
            int64_t *cell = figures + (k * buckets->n_classes + record.label) * NUMBERS;
            cell[0] = record.messages;
            cell[1] = record.occurrences;
            cell[2] = record.weight;
        }
    }
}

void buckets_read_vectors(const struct buckets *buckets, const int64_t *hashes, size_t n, uint8_t *vectors) {
    size_t i = 0, place, size = buckets->vector_bytes;
    for (size_t k = 0; k < n; k++, vectors += size) {
        const struct bucket *bucket = find_token(buckets, &i, hashes[k], &place);
        if (bucket)
            put_bytes(vectors, column(bucket, VECTORS).at + place * size, size);
    }
}

/* Writes the records of a token, and returns their number. stored: the records of the old bucket from this token, or one
 * before it, on. */
static size_t read_records(span *stored, const struct layout *layout, size_t n_classes,
                           const struct changed_tokens *changes, const struct place *place, struct record *records) {
    size_t n = 0;
    if (place->changed == NONE) {
        span found = next_records(stored, layout, place->old);
        for (; found.at < found.end; found.at += layout->width)
            records[n++] = parse_record(found.at, layout);
        return n;
    }
    const int64_t *cell = changes->figures + place->changed * n_classes * NUMBERS;
    for (size_t label = 0; label < n_classes; label++, cell += NUMBERS)
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

/* Writes n records of a bucket. Returns where they end. */
static uint8_t *write_records(const struct record *records, size_t n, const struct layout *layout, uint8_t *at) {
    for (size_t k = 0; k < n; k++) {
        *at++ = (uint8_t)records[k].place;
        at = store_number(at, layout->label, records[k].label);
        at = store_number(at, layout->count, (uint64_t)records[k].messages);
        at = store_number(at, layout->count, (uint64_t)(records[k].occurrences - records[k].messages));
        at = store_number(at, layout->weight, (uint64_t)records[k].weight);
    }
    return at;
}

/* Writes the columns of a bucket of n tokens, which are among those of the old bucket or are changed. texts: where the
 * text of each old token begins, and where the last one ends. */
static enum bucket_problem fill_bucket(struct bucket *bucket, const struct bucket *old, const uint8_t *const *texts,
                                       const struct buckets *buckets, const struct changed_tokens *changes,
                                       const struct place *places, size_t n) {
    size_t vector_bytes = buckets->vector_bytes, n_records = 0, n_text_bytes = 0;
    const struct layout *old_layout = layout_of(old->row.width), *layout = LAYOUTS;
    span stored = column(old, RECORDS);
    size_t room = size_of(stored) / old_layout->width; /* records */
    for (size_t k = 0; k < n; k++) {
        size_t before = places[k].old, changed = places[k].changed;
        room += changed == NONE ? 0 : buckets->n_classes;
        if (before == NONE && changes->text_lengths[changed] < 0)
            return BUCKET_NO_TEXT;
        n_text_bytes += before == NONE ? (size_t)changes->text_lengths[changed] + 1
                                       : (size_t)(texts[before + 1] - texts[before]);
    }
    struct record *records = malloc((room + 1) * sizeof *records);
    enum bucket_problem problem = records ? BUCKET_WHOLE : BUCKET_MEMORY;
    for (size_t k = 0; !problem && k < n; k++) {
        struct record *next = records + n_records;
        size_t end = n_records + read_records(&stored, old_layout, buckets->n_classes, changes, &places[k], next);
        for (; !problem && n_records < end; n_records++) {
            records[n_records].place = k;
            problem = check_figures(&records[n_records]);
            const struct layout *needed = problem ? layout : narrowest_layout(&records[n_records]);
            layout = needed > layout ? needed : layout;
        }
    }
    size_t sizes[N_COLUMNS] = {n * HASH_BYTES, n_records * layout->width, n_text_bytes, n * vector_bytes};
    for (size_t i = 0; i < N_COLUMNS; i++)
        bucket->row.sizes[i] = (int64_t)sizes[i];
    bucket->row.width = layout->width;
    if (!problem && !(bucket->bytes = malloc(count_bytes(&bucket->row) + 1)))
        problem = BUCKET_MEMORY;
    if (!problem) {
        uint8_t *at = bucket->bytes;
        for (size_t k = 0; k < n; k++)
            at = store_number(at, HASH_BYTES, (uint64_t)places[k].hash);
        at = write_records(records, n_records, layout, at);
        for (size_t k = 0; k < n; k++) {
            size_t before = places[k].old, changed = places[k].changed;
            if (before != NONE) {
                at = put_bytes(at, texts[before], (size_t)(texts[before + 1] - texts[before]));
                continue;
            }
            at = put_bytes(at, changes->texts + changes->text_begins[changed], (size_t)changes->text_lengths[changed]);
            *at++ = END_OF_TEXT;
        }
        const uint8_t *vectors = column(old, VECTORS).at;
        for (size_t k = 0; k < n; k++, at += vector_bytes) {
            const uint8_t *vector = places[k].old != NONE ? vectors + places[k].old * vector_bytes
                                    : changes->vectors    ? changes->vectors + places[k].changed * vector_bytes
                                                          : NULL;
            for (size_t byte = 0; byte < vector_bytes; byte++)
                at[byte] = vector ? vector[byte] : 0;
        }
    }
    free(records);
    return problem;
}

/* Joins the tokens of a bucket with the changed tokens from begin to end, and writes the places of those that are used.
 * Returns their number. */
static size_t join_tokens(const struct bucket *bucket, size_t n_cells, const struct changed_tokens *changes, size_t begin,
                          size_t end, struct place *places) {
    span stored = column(bucket, HASHES);
    size_t token = 0, n = 0;
    while (!is_empty(stored) || begin < end) {
        int64_t hash = is_empty(stored) ? INT64_MAX : load_hash(stored.at);
        bool is_changed = begin < end && (is_empty(stored) || changes->hashes[begin] <= hash);
        bool is_old = !is_empty(stored) && (!is_changed || changes->hashes[begin] == hash), is_used = !is_changed;
        for (size_t j = 0; is_changed && !is_used && j < n_cells; j++)
            is_used = changes->figures[begin * n_cells + j] != 0;
        if (is_used)
            places[n++] = (struct place){is_changed ? changes->hashes[begin] : hash, is_old ? token : NONE,
                                         is_changed ? begin : NONE};
        if (is_old)
            stored.at += HASH_BYTES, token++;
        begin += is_changed;
    }
    return n;
}

/* Writes the parts that become of a bucket; a part that cannot be made has no bytes. */
static enum bucket_problem divide(const struct bucket *old, const uint8_t *const *texts, const struct buckets *buckets,
                                  const struct changed_tokens *changes, const struct place *places, size_t n, size_t size,
                                  struct bucket *parts, size_t n_parts) {
    enum bucket_problem problem = BUCKET_WHOLE;
    for (size_t part = 0; !problem && part < n_parts; part++) {
        size_t first = part * size, next = first + size < n ? first + size : n;
        struct bucket_row *row = &parts[part].row;
        *row = old->row;
        if (part)
            row->key = separate(places[first - 1].hash, places[first].hash);
        if (next < n)
            row->last = separate(places[next - 1].hash, places[next].hash) - 1;
        parts[part].is_changed = true;
        problem = fill_bucket(&parts[part], old, texts, buckets, changes, places + first, next - first);
    }
    return problem;
}

/* Puts parts in the place of bucket i. Returns false if there is too little memory. */
static bool replace_bucket(struct buckets *buckets, size_t i, const struct bucket *parts, size_t n_parts) {
    if (!make_room(buckets, i + 1, n_parts - 1))
        return false;
    struct bucket *items = buckets->items + i;
    buckets->n += n_parts - 1;
    buckets->n_tokens -= count_tokens(items);
    free(items->bytes);
    for (size_t part = 0; part < n_parts; part++) {
        items[part] = parts[part];
        buckets->n_tokens += count_tokens(&parts[part]);
    }
    return true;
}

/* Changes bucket i by the changed tokens from begin to end, one or more, which are in its range. */
static enum bucket_problem change_bucket(struct buckets *buckets, size_t i, const struct changed_tokens *changes,
                                         size_t begin, size_t end, size_t max_tokens, size_t new_tokens) {
    const struct bucket *old = &buckets->items[i];
    size_t n_old = count_tokens(old), n_most = n_old + end - begin;
    struct place *places = calloc(n_most, sizeof *places);
    const uint8_t **texts = calloc(n_old + 1, sizeof *texts);
    struct bucket *parts = calloc(n_most / new_tokens + 1, sizeof *parts);
    enum bucket_problem problem = BUCKET_MEMORY;
    if (places && texts && parts) {
        size_t n = join_tokens(old, buckets->n_classes * NUMBERS, changes, begin, end, places);
        size_t size = n > max_tokens ? new_tokens : max_tokens, n_parts = n ? (n + size - 1) / size : 1;
        span rest = column(old, TEXTS);
        texts[0] = rest.at;
        for (size_t k = 0; k < n_old; k++)
            texts[k + 1] = rest.at = find_byte(rest, END_OF_TEXT) + 1;
        problem = divide(old, texts, buckets, changes, places, n, size, parts, n_parts);
        if (!problem && !replace_bucket(buckets, i, parts, n_parts))
            problem = BUCKET_MEMORY;
        for (size_t part = 0; problem && part < n_parts; part++)
            free(parts[part].bytes);
    }
    free(places), free(texts), free(parts);
    return problem;
}

enum bucket_problem buckets_change(struct buckets *buckets, const struct changed_tokens *changes, size_t max_tokens,
                                   size_t new_tokens) {
    enum bucket_problem problem = BUCKET_WHOLE;
    for (size_t begin = 0, end = 0, i = 0; !problem && begin < changes->n; begin = end) {
        i = find_bucket(buckets, i, changes->hashes[begin]);
        if (!is_in_range(buckets, i, changes->hashes[begin]))
            return BUCKET_HASH_ORDER;
        while (end < changes->n && changes->hashes[end] <= buckets->items[i].row.last)
            end++;
        problem = change_bucket(buckets, i, changes, begin, end, max_tokens, new_tokens);
    }
    return problem;
}

size_t buckets_count_changed(const struct buckets *buckets, size_t *n_bytes) {
    size_t n = 0;
    *n_bytes = 0;
    for (size_t i = 0; i < buckets->n; i++)
        if (buckets->items[i].is_changed) {
            *n_bytes += count_bytes(&buckets->items[i].row);
            n++;
        }
    return n;
}

void buckets_write(struct buckets *buckets, struct bucket_row *rows, uint8_t *bytes) {
    for (size_t i = 0; i < buckets->n; i++) {
        struct bucket *bucket = &buckets->items[i];
        if (!bucket->is_changed)
            continue;
        *rows++ = bucket->row;
        bytes = put_bytes(bytes, bucket->bytes, count_bytes(&bucket->row));
        bucket->is_changed = false;
    }
}
