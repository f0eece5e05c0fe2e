#include "interface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A token of a message that is in the model. position: of its cell. weight: the factor of its log-likelihoods. */
struct known_token {
    size_t position, id, group;
    double weight, information;
};

/* Memory for one message: its tokens, a row of log-likelihoods for each of them and of their ratios to the largest one,
 * numbers of groups and of classes. */
struct scratch {
    struct known_token *tokens;
    double *log_likelihoods, *ratios, *group_weights, *shares, *per_class, *typicality;
    double typical_weight; /* of the tokens of a message that typicality has the weighted sums of P(class | token) of */
    bool has_text;         /* one of them is a word of the text */
};

static size_t longest_row(const struct score_rows *rows) {
    int64_t longest = 0;
    for (size_t i = 0; i < rows->n_messages; i++)
        if (rows->bounds[i + 1] - rows->bounds[i] > longest)
            longest = rows->bounds[i + 1] - rows->bounds[i];
    return (size_t)longest;
}

/* Writes the likelihood of each class in n tokens, as a ratio to the largest one, and the information about the class in
 * each token: 1 - H/log C, where H is the entropy of the classes' posterior. */
static void compute_ratios(const struct score_model *model, size_t n, const struct scratch *scratch) {
    size_t classes = model->n_classes;
    double inverse_log_classes = 1 / log((double)classes);
    for (size_t c = 0; c < n; c++) {
        const double *log_likelihoods = scratch->log_likelihoods + c * classes;
        double *ratios = scratch->ratios + c * classes, top = log_likelihoods[0], total = 0.0, sum = 0.0;
        for (size_t k = 1; k < classes; k++)
            if (log_likelihoods[k] > top)
                top = log_likelihoods[k];
        for (size_t k = 0; k < classes; k++) {
            double shifted = log_likelihoods[k] - top;
            ratios[k] = shifted < 0 ? exp(shifted) : 1; /* the largest needs no exp */
            total += ratios[k];
            sum += ratios[k] * shifted;
        }
        if (model->is_sum || classes < 2) /* a sum needs no information, and one class has none */
            continue;
        double share = 1 - (log(total) - sum / total) * inverse_log_classes;
        scratch->tokens[c].information = share < 0 ? 0.0 : share > 1 ? 1.0 : share;
    }
}

static inline double log_of_count(const struct score_model *model, int64_t count) {
    return (uint64_t)count < model->n_logs ? model->logs[count] : log((double)count + model->alpha);
}

/* Writes the plain or the doubtful tokens of message i that are in the model, and their log-likelihoods; by the model
 * without the message, if the model has learned it. Returns the number of these tokens. length: the number of all plain
 * or doubtful tokens, a result. */
static size_t compute_likelihoods(const struct score_model *model, const struct score_rows *rows, size_t i, bool doubtful,
                                  const struct scratch *scratch, size_t *length) {
    *length = 0;
    size_t begin = (size_t)rows->bounds[i], end = (size_t)rows->bounds[i + 1], n = 0, classes = model->n_classes;
    size_t label = rows->labels ? (size_t)rows->labels[i] : classes;
    bool is_multinomial = model->event_model == MULTINOMIAL_MODEL;
    int64_t total = 0, vocabulary_size = model->vocabulary_size;
    for (size_t j = begin; j < end; j++) {
        if (rows->is_doubtful ? rows->is_doubtful[j] != doubtful : doubtful)
            continue;
        (*length)++;
        size_t id = (size_t)rows->ids[j];
        int8_t group = model->groups[id];
        double occurrences = is_multinomial ? (double)rows->occurrences[j] : 1.0;
        __builtin_prefetch(&model->counts[id * classes]);
        total += (int64_t)occurrences;
        scratch->tokens[n] = (struct known_token){j, id, (size_t)group, occurrences, 0.0};
        n += group >= 0;
    }
    if (rows->labels) /* the model without the message lacks the tokens that no other message has */
        vocabulary_size -= (int64_t)(*length - n);
    for (size_t k = 0; k < classes; k++) {
        int64_t others = model->totals[k] - (k == label) * total;
        scratch->per_class[k] = log((double)others + model->alpha * (double)vocabulary_size);
    }
    for (size_t c = 0; c < n; c++) {
        const struct known_token *token = &scratch->tokens[c];
        double *log_likelihoods = scratch->log_likelihoods + c * classes;
        for (size_t k = 0; k < classes; k++) {
            int64_t own = k == label, count = model->counts[token->id * classes + k] - own * (int64_t)token->weight;
            log_likelihoods[k] = log_of_count(model, count);
            log_likelihoods[k] -= model->event_model == BERNOULLI_MODEL
                                      ? log_of_count(model, model->documents[k] - own - count)
                                      : scratch->per_class[k];
        }
    }
    return n;
}

/* Computes the weights of n tokens, which are their occurrences before the call. other_votes: of other tokens, which
 * these are pooled with. Returns the votes. */
static double compute_weights(const struct score_model *model, size_t n, double other_votes,
                              const struct scratch *scratch) {
    double votes = 0.0;
    for (size_t g = 0; g < model->n_groups; g++)
        scratch->group_weights[g] = 0.0;
    for (size_t c = 0; c < n; c++) {
        struct known_token *token = &scratch->tokens[c];
        if (!model->is_sum) {
            double root = sqrt(token->information);
            for (size_t h = 0; h < model->information_halves; h++)
                token->weight *= root;
        }
        scratch->group_weights[token->group] += token->weight;
    }
    for (size_t g = 0; g < model->n_groups; g++) {
        double weight = scratch->group_weights[g];
        scratch->shares[g] = weight > 0 ? pow(weight, model->group_exponent) : 0.0;
        votes += scratch->shares[g];
    }
    if (model->is_sum)
        return votes;
    for (size_t g = 0; g < model->n_groups; g++)
        if (scratch->shares[g] > 0)
            scratch->shares[g] /= scratch->group_weights[g] * (model->prior_weight + other_votes + votes);
    for (size_t c = 0; c < n; c++)
        scratch->tokens[c].weight *= scratch->shares[scratch->tokens[c].group];
    return votes;
}

/* Adds n known tokens of message i, plain or doubtful, to those that say how typical of each class the message is, and
 * writes their mean of P(class | token): of words, and of tokens of structure with a weight. An unknown token of
 * structure, plain or doubtful, says 0, but a sender can add any number of them, so at most as many as are known count.
 * Typicality is 0 without a word of the text: the layout of the subject alone is like no class. Known doubtful tokens
 * make a message more typical of spam, and never less. */
static void add_typicality(const struct score_model *model, const struct score_rows *rows, size_t i, size_t n, bool doubtful,
                           struct scratch *scratch) {
    size_t classes = model->n_classes, structure = 0, unknown = 0;
    double *typicality = rows->typicality + i * classes, *sums = scratch->typicality;
    for (size_t c = 0; c < n; c++) {
        size_t group = scratch->tokens[c].group;
        bool is_structure = group == model->n_groups - 1;
        double weight = is_structure ? model->structure_weight : 1.0, total = 0.0;
        if (group >= model->n_word_groups && !is_structure)
            continue;
        structure += is_structure;
        scratch->has_text = scratch->has_text || group == 0;
        scratch->typical_weight += weight;
        for (size_t k = 0; k < classes; k++)
            total += scratch->per_class[k] = model->documents[k] ? scratch->ratios[c * classes + k] : 0;
        for (size_t k = 0; k < classes; k++)
            sums[k] += weight * scratch->per_class[k] / total;
    }
    for (int64_t j = rows->bounds[i]; !doubtful && unknown < structure && j < rows->bounds[i + 1]; j++)
        unknown += model->groups[rows->ids[j]] == -(int64_t)model->n_groups;
    scratch->typical_weight += (double)unknown * model->structure_weight;
    if (scratch->has_text && (!doubtful || sums[model->spam] > typicality[model->spam] * scratch->typical_weight))
        for (size_t k = 0; k < classes; k++)
            typicality[k] = sums[k] / scratch->typical_weight;
}

/* Adds the evidence of n tokens to the scores of message i. length: the number of its plain tokens. */
static void add_evidence(const struct score_model *model, const struct score_rows *rows, size_t i, size_t n,
                         size_t length, const struct scratch *scratch) {
    size_t classes = model->n_classes;
    double *scores = rows->scores + i * classes, per_class = 1 / (double)classes;
    double nats = length ? model->unit / sqrt((double)length) : 0.0; /* the length counts unknown tokens, too */
    for (size_t c = 0; c < n; c++) {
        const struct known_token *token = &scratch->tokens[c];
        const double *log_likelihoods = scratch->log_likelihoods + c * classes;
        double mean = 0.0, weight = token->weight * model->scale;
        if (!model->is_sum) {
            for (size_t k = 0; k < classes; k++)
                mean += log_likelihoods[k];
            mean *= per_class;
        }
        for (size_t k = 0; k < classes; k++) {
            double correction = model->corrections ? (double)model->corrections[token->id * classes + k] * nats : 0.0;
            double added = (log_likelihoods[k] - mean) * weight + correction;
            scores[k] += added;
            if (rows->weights)
                rows->weights[token->position * classes + k] = added;
            if (rows->correction_weights)
                rows->correction_weights[token->position * classes + k] = correction;
        }
    }
}

/* Returns how much a row of all classes speaks for spam, against the class that it speaks for most besides spam. */
static double excess(const struct score_model *model, const double *row) {
    double rival = -INFINITY;
    for (size_t k = 0; k < model->n_classes; k++)
        if (k != model->spam && row[k] > rival)
            rival = row[k];
    return row[model->spam] - rival;
}

/* Adds the evidence of n doubtful tokens to the score of spam. Tokens that do not speak for spam are dropped. */
static void add_doubtful_evidence(const struct score_model *model, const struct score_rows *rows, size_t i, size_t n,
                                  size_t length, const struct scratch *scratch) {
    size_t classes = model->n_classes, n_accusing = 0;
    for (size_t c = 0; c < n; c++)
        if (excess(model, scratch->log_likelihoods + c * classes) > 0) {
            memmove(scratch->log_likelihoods + n_accusing * classes, scratch->log_likelihoods + c * classes,
                    classes * sizeof *scratch->log_likelihoods);
            scratch->tokens[n_accusing++] = scratch->tokens[c];
        }
    compute_ratios(model, n_accusing, scratch);
    compute_weights(model, n_accusing, rows->votes[i], scratch);
    double nats = model->unit / sqrt((double)(length + n_accusing));
    for (size_t c = 0; c < n_accusing; c++) {
        const struct known_token *token = &scratch->tokens[c];
        double added = excess(model, scratch->log_likelihoods + c * classes) * token->weight * model->scale, correction = 0.0;
        if (model->corrections) {
            for (size_t k = 0; k < classes; k++)
                scratch->per_class[k] = (double)model->corrections[token->id * classes + k];
            correction = excess(model, scratch->per_class) * nats;
        }
        if (added + correction <= 0)
            continue;
        rows->scores[i * classes + model->spam] += added + correction;
        if (rows->weights)
            rows->weights[token->position * classes + model->spam] = added + correction;
        if (rows->correction_weights)
            rows->correction_weights[token->position * classes + model->spam] = correction;
    }
}

bool score_messages(const struct score_model *model, const struct score_model *reference,
                    const struct score_rows *rows) {
    size_t classes = model->n_classes, longest = longest_row(rows) + 1;
    double *numbers = calloc(2 * longest * classes + 2 * model->n_groups + 2 * classes, sizeof *numbers);
    struct known_token *tokens = calloc(longest, sizeof *tokens);
    if (numbers && tokens) {
        struct scratch scratch = {.tokens = tokens, .log_likelihoods = numbers};
        scratch.ratios = scratch.log_likelihoods + longest * classes;
        scratch.group_weights = scratch.ratios + longest * classes;
        scratch.shares = scratch.group_weights + model->n_groups;
        scratch.per_class = scratch.shares + model->n_groups;
        scratch.typicality = scratch.per_class + classes;
        for (size_t i = 0; i < rows->n_messages; i++) {
            const double *intercepts = model->intercepts + (rows->labels ? (size_t)rows->labels[i] * classes : 0);
            for (size_t k = 0; k < classes; k++)
                rows->scores[i * classes + k] = intercepts[k];
            size_t length = 0, n_known = 0, n_doubtful = 0;
            size_t n = compute_likelihoods(model, rows, i, false, &scratch, &length);
            compute_ratios(model, n, &scratch);
            rows->votes[i] = compute_weights(model, n, 0, &scratch);
            add_evidence(model, rows, i, n, length, &scratch);
            if (reference != model) {
                n = compute_likelihoods(reference, rows, i, false, &scratch, &n_known);
                compute_ratios(reference, n, &scratch);
            }
            scratch.typical_weight = scratch.has_text = 0;
            for (size_t k = 0; k < classes; k++)
                scratch.typicality[k] = rows->typicality[i * classes + k] = 0.0;
            add_typicality(reference, rows, i, n, false, &scratch);
            if (!rows->is_doubtful || model->is_sum || classes < 2 || model->spam >= classes)
                continue;
            n = compute_likelihoods(reference, rows, i, true, &scratch, &n_doubtful);
            compute_ratios(reference, n, &scratch);
            add_typicality(reference, rows, i, n, true, &scratch);
            if (reference != model)
                n = compute_likelihoods(model, rows, i, true, &scratch, &n_doubtful);
            add_doubtful_evidence(model, rows, i, n, length, &scratch);
        }
    }
    free(numbers);
    free(tokens);
    return numbers && tokens;
}
