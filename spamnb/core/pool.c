#include "pool.h"

#include <math.h>
#include <stdlib.h>

/* The cells of one message. The log_likelihoods and weights of class k begin at index k * stride. */
struct evidence {
    const double *log_likelihoods;
    const int64_t *occurrences;
    const int8_t *groups;
    size_t n, stride;
    double *weights;
};

/* Memory for one message: a weight for each cell, and two numbers for each group. */
struct scratch {
    double *token_weights, *group_weights, *shares;
};

static bool allocate_scratch(struct scratch *scratch, size_t longest, size_t n_groups) {
    double *numbers = calloc(longest + 2 * n_groups + 1, sizeof *numbers);
    *scratch = (struct scratch){numbers, numbers + longest, numbers + longest + n_groups};
    return numbers != NULL;
}

static size_t longest_row(const int64_t *bounds, size_t n) {
    int64_t longest = 0;
    for (size_t i = 0; i < n; i++)
        if (bounds[i + 1] - bounds[i] > longest)
            longest = bounds[i + 1] - bounds[i];
    return (size_t)longest;
}

/* Returns the information about the class in cell j: 1 - H/log C, where H is the entropy of the classes' posterior. */
static inline double information(const struct evidence *evidence, size_t j, size_t classes,
                                 double inverse_log_classes) {
    const double *log_likelihoods = evidence->log_likelihoods + j;
    double top = log_likelihoods[0], total = 0.0, sum = 0.0;
    if (classes == 2) { /* the larger exponent is 0, and needs no exp */
        sum = -fabs(log_likelihoods[0] - log_likelihoods[evidence->stride]);
        total = exp(sum);
        sum *= total;
        total += 1;
    } else {
        for (size_t k = 1; k < classes; k++)
            if (log_likelihoods[k * evidence->stride] > top)
                top = log_likelihoods[k * evidence->stride];
        for (size_t k = 0; k < classes; k++) {
            double shifted = log_likelihoods[k * evidence->stride] - top, q = exp(shifted);
            total += q;
            sum += q * shifted;
        }
    }
    double share = 1 - (log(total) - sum / total) * inverse_log_classes;
    return share < 0 ? 0.0 : share > 1 ? 1.0 : share;
}

/* Adds the weighted evidence of the cells to the scores, and writes it to evidence->weights unless they are NULL.
 * Returns the votes. */
static double pool(const struct pooling *pooling, const struct evidence *evidence, const struct scratch *scratch,
                   double *scores) {
    size_t classes = pooling->n_classes, n = evidence->n;
    double votes = 0.0, inverse_log_classes = 1 / log((double)classes), per_class = 1 / (double)classes;
    double exponent = pooling->information_exponent;
    for (size_t g = 0; g < pooling->n_groups; g++)
        scratch->group_weights[g] = 0.0;
    for (size_t j = 0; j < n; j++)
        scratch->token_weights[j] = pooling->is_sum ? 1.0 : classes < 2 ? 0.0 : information(evidence, j, classes, inverse_log_classes);
    for (size_t j = 0; j < n; j++) {
        double weight = scratch->token_weights[j];
        weight = exponent == 1.5 ? weight * sqrt(weight) : pow(weight, exponent); /* pow takes three times as long */
        weight *= evidence->occurrences ? (double)evidence->occurrences[j] : 1.0;
        scratch->token_weights[j] = weight;
        scratch->group_weights[evidence->groups[j]] += weight;
    }
    for (size_t g = 0; g < pooling->n_groups; g++) {
        double weight = scratch->group_weights[g];
        scratch->shares[g] = weight > 0 ? pow(weight, pooling->group_exponent) : 0.0;
        votes += scratch->shares[g];
    }
    for (size_t g = 0; g < pooling->n_groups; g++)
        if (scratch->shares[g] > 0)
            scratch->shares[g] /= scratch->group_weights[g] * (pooling->prior_weight + votes);
    for (size_t j = 0; j < n; j++) {
        double mean = 0.0, weight = scratch->token_weights[j];
        if (!pooling->is_sum) {
            for (size_t k = 0; k < classes; k++)
                mean += evidence->log_likelihoods[k * evidence->stride + j];
            mean *= per_class;
            weight *= scratch->shares[evidence->groups[j]];
        }
        for (size_t k = 0; k < classes; k++) {
            double added = (evidence->log_likelihoods[k * evidence->stride + j] - mean) * weight;
            scores[k] += added;
            if (evidence->weights)
                evidence->weights[k * evidence->stride + j] = added;
        }
    }
    return votes;
}

bool pool_rows(const struct pooling *pooling, const struct evidence_rows *rows) {
    struct scratch scratch;
    if (!allocate_scratch(&scratch, longest_row(rows->bounds, rows->n_messages), pooling->n_groups))
        return false;
    for (size_t i = 0; i < rows->n_messages; i++) {
        size_t begin = (size_t)rows->bounds[i], stride = (size_t)rows->bounds[rows->n_messages];
        struct evidence evidence = {
            rows->log_likelihoods + begin, rows->occurrences ? rows->occurrences + begin : NULL, rows->groups + begin,
            (size_t)rows->bounds[i + 1] - begin, stride, rows->weights + begin,
        };
        rows->votes[i] = pool(pooling, &evidence, &scratch, rows->scores + i * pooling->n_classes);
    }
    free(scratch.token_weights);
    return true;
}

/* The cells of one message, without tokens that no other message has. */
struct shared_cells {
    double *log_likelihoods;
    int64_t *occurrences;
    uint32_t *ids;
    int8_t *groups;
    size_t n, stride;
};

static inline double log_of_count(const struct left_out *left_out, int64_t count) {
    return (uint64_t)count < left_out->n_logs ? left_out->logs[count] : log((double)count + left_out->alpha);
}

/* Writes the evidence of message i by the model without it. */
static void write_evidence(const struct left_out *left_out, size_t i, size_t classes, struct shared_cells *shared) {
    bool is_multinomial = left_out->model == MULTINOMIAL_MODEL;
    int64_t begin = left_out->bounds[i], end = left_out->bounds[i + 1], total = 0;
    size_t n = 0;
    for (int64_t j = begin; j < end; j++) {
        int64_t occurrences = is_multinomial ? left_out->occurrences[j] : 1;
        total += occurrences;
        __builtin_prefetch(&left_out->counts[(size_t)left_out->ids[j] * classes]);
        shared->ids[n] = (uint32_t)left_out->ids[j];
        shared->occurrences[n] = occurrences;
        shared->groups[n] = left_out->token_groups[left_out->ids[j]];
        n += shared->groups[n] >= 0;
    }
    shared->n = n;
    double total_alpha = left_out->alpha * (double)(left_out->vocabulary_size - (end - begin - (int64_t)n));
    for (size_t k = 0; k < classes; k++) {
        int64_t own = (size_t)left_out->labels[i] == k, documents = left_out->documents[k] - own;
        double log_total = log((double)(left_out->totals[k] - own * total) + total_alpha);
        for (size_t j = 0; j < n; j++) {
            int64_t count = left_out->counts[shared->ids[j] * classes + k] - own * shared->occurrences[j];
            shared->log_likelihoods[k * shared->stride + j] =
                log_of_count(left_out, count) -
                (left_out->model == BERNOULLI_MODEL ? log_of_count(left_out, documents - count) : log_total);
        }
    }
}

bool score_left_out(const struct pooling *pooling, const struct left_out *left_out) {
    size_t classes = pooling->n_classes, stride = longest_row(left_out->bounds, left_out->n_messages) + 1;
    struct scratch scratch;
    struct shared_cells shared = {
        calloc(classes, stride * sizeof(double)), calloc(stride, sizeof(int64_t)), calloc(stride, sizeof(uint32_t)),
        calloc(stride, 1), 0, stride,
    };
    bool fits = allocate_scratch(&scratch, stride, pooling->n_groups) && shared.log_likelihoods &&
                shared.occurrences && shared.ids && shared.groups;
    for (size_t i = 0; fits && i < left_out->n_messages; i++) {
        double *scores = left_out->scores + i * classes;
        write_evidence(left_out, i, classes, &shared);
        for (size_t k = 0; k < classes; k++)
            scores[k] = pooling->is_sum ? left_out->log_priors[(size_t)left_out->labels[i] * classes + k] : 0.0;
        pool(pooling,
             &(struct evidence){shared.log_likelihoods, shared.occurrences, shared.groups, shared.n, stride, NULL},
             &scratch, scores);
    }
    free(scratch.token_weights);
    free(shared.log_likelihoods), free(shared.occurrences), free(shared.ids), free(shared.groups);
    return fits;
}
