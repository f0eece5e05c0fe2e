/* The tokens of header fields, links, HTML and parts. spamnb/reader/evidence.py defines how each header
 * field is read. */
#include "reader.h"

enum {
    MAX_FIELD_NAME = 40, /* bytes of a field's name in its tokens; Exchange adds longer names, which begin alike */
    MAX_VALUE = 2000, /* bytes of a field's value that are read; 6 of 6,438 messages have a longer value */
    MAX_TYPE = 40, /* bytes of a content type in a token; types of Office documents are longer and begin alike */
    MAX_NAME = 20, /* bytes of a charset or an encoding in a token; the longest in ordinary mail has 17 */
    MAX_ENDING = 12, /* bytes of a filename's ending in a token; longer endings name no kind of file */
};

/* ---- Rules ---- */

/* Returns the bucket of a name, from 1 to 32, by its first and its third letter, which may be capitals. Names of
 * one or two letters are in bucket 1. */
static size_t bucket_of(span name) { return 1 + (size_of(name) < 3 ? 0 : (name.at[0] ^ name.at[2]) & 31); }

void rules_sort(struct rule_table *table) {
    for (size_t i = 0; i < table->n_rules; i++) {
        struct header_rule rule = table->rules[i];
        size_t bucket = bucket_of(rule.name), at = table->ends[bucket];
        memmove(table->rules + at + 1, table->rules + at, (i - at) * sizeof rule);
        table->rules[at] = rule;
        for (; bucket < COUNT_OF(table->ends); bucket++)
            table->ends[bucket]++;
    }
}

const struct header_rule *header_rule_of(const struct rule_table *table, span name) {
    const struct header_rule *best = &table->other;
    size_t bucket = bucket_of(name);
    for (const struct header_rule *rule = table->rules + table->ends[bucket - 1];
         rule < table->rules + table->ends[bucket]; rule++) {
        if (!starts_with_any_case(name, rule->name))
            continue;
        if (!rule->is_beginning && size_of(name) == size_of(rule->name))
            return rule;
        if (rule->is_beginning && best == &table->other)
            best = rule;
    }
    return best;
}

uint8_t group_of(const struct group_table *table, span token) {
    if (find_byte(token, ' '))
        return table->pair_group;
    const uint8_t *colon = find_byte(token, ':');
    if (!colon || colon == token.at || !is_letter(*token.at))
        return table->text_group;
    span prefix = span_between(token.at, colon);
    for (size_t i = 0; i < table->n_kinds; i++)
        if (is_same(table->kinds[i].prefix, prefix))
            return table->kinds[i].group;
    return table->header_group;
}

/* ---- Header fields ---- */

/* Counts the words of a signature field, except the parameters that differ in each message: b, the signature; bh, the
 * hash of the body; t and x, times. */
static void add_signature(struct reader *reader, const struct word_rule *word_rule, span value) {
    while (!is_empty(value)) {
        span item = before_first(value, ';');
        if (!is_one_of(strip(before_first(item, '=')), " b bh t x "))
            add_words(reader, word_rule, item);
        value = skip_bytes(value, size_of(item) + 1);
    }
}

static void add_field(struct reader *reader, const struct field *field) {
    struct arena *arena = &reader->arena;
    const struct header_rule *rule = header_rule_of(&reader->rules, field->name);
    if (rule->method == METHOD_IGNORED || rule->method == METHOD_VOLATILE)
        return;
    span name = copy_lower(arena, first_bytes(field->name, MAX_FIELD_NAME));
    add_token(reader, LITERAL("header:"), name);
    if (rule->method == METHOD_PRESENCE)
        return;
    span value = strip(field_value(reader, field, true));
    const struct field *subjects[2];
    if (rule->method == METHOD_SUBJECT && (find_readings(&reader->message.section, LITERAL("subject"), subjects) ||
                                           !is_same(field->value, subjects[0]->value))) {
        *LIST_ADD(arena, &reader->message.doubtful) = value; /* mail readers may show another subject */
        return;
    }
    value = rule->method == METHOD_SUBJECT ? value : truncate_text(value, MAX_VALUE);
    span prefix = concatenate(arena, is_empty(rule->prefix) ? name : rule->prefix, LITERAL(":"));
    struct word_rule word_rule = {prefix, WORD_WHOLE};
    const uint8_t *date;
    switch (rule->method) {
    case METHOD_SIGNATURE:
        add_signature(reader, &word_rule, value);
        break;
    case METHOD_RECEIVED: /* without the date, which is only evidence of when the training mail was collected */
        date = find_last(value, ';');
        word_rule.method = WORD_HOST;
        add_words(reader, &word_rule, date ? span_between(value.at, date) : value);
        break;
    default:
        word_rule.method = rule->method == METHOD_SUBJECT ? WORD_PARTS : WORD_WHOLE;
        add_words(reader, &word_rule, value);
    }
    if (rule->method == METHOD_SUBJECT) /* again as a text, whose words have no prefix */
        add_texts(reader, &(span_list){&value, 1, 1}, LITERAL("subject:"));
}

/* ---- Structure ---- */

static void add_part(struct reader *reader, const struct entity *part) {
    if (is_empty(part->content_type))
        return;
    add_token(reader, LITERAL("part:"), truncate_text(part->content_type, MAX_TYPE));
    add_token(reader, LITERAL("charset:"), truncate_text(part->charset, MAX_NAME));
    add_token(reader, LITERAL("encoding:"), truncate_text(part->encoding, MAX_NAME));
    if (is_empty(part->filename))
        return;
    const uint8_t *dot = find_last(part->filename, '.');
    span ending = span_between(dot ? dot + 1 : part->filename.at, part->filename.end);
    add_token(reader, LITERAL("attachment:"), copy_lower(&reader->arena, truncate_text(ending, MAX_ENDING)));
}

void add_evidence(struct reader *reader) {
    struct message *message = &reader->message;
    for (int essential = 1; essential >= 0; essential--) /* essential fields first: the others may use up MAX_TOKENS */
        for (size_t i = 0; i < message->section.fields.count; i++)
            if (message->section.fields.items[i].is_essential == essential)
                add_field(reader, &message->section.fields.items[i]);
    add_links(reader, false);
    for (unsigned tag = 0; tag < TAG_COUNT; tag++)
        if (message->tags[tag])
            add_token(reader, LITERAL("html:tag:"), TAGS[tag].name);
    if (message->has_doubtful_page)
        add_token(reader, LITERAL("html:"), LITERAL("hidden"));
    for (size_t i = 0; i < message->leaves.count; i++)
        add_part(reader, &message->leaves.items[i]);
}

void add_truncations(struct reader *reader) {
    static const char *const NAMES[] = {"headers", "html", "links", "parts", "text", "names", "tokens", "pdf", "smime",
                                        "tnef"};
    reader->message.tokens_left += COUNT_OF(NAMES);
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (reader->message.truncations >> i & 1)
            add_token(reader, LITERAL("truncated:"), span_of_text(NAMES[i]));
}
