/* The loops of spamnb/formulas/pooling.py and of the left-out scores of spamnb/learners/naive_bayes.py, which explain
 * the formulas. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the evidence of a message is pooled. is_sum: log likelihoods are added up, and exponents are not used. */
struct pooling {
    size_t n_classes, n_groups;
    bool is_sum;
    double information_exponent, group_exponent, prior_weight;
};

/* Messages whose evidence is pooled: message i has the cells from bounds[i] to bounds[i + 1].
 *
 * log_likelihoods, weights: a row of all cells for each class; weights are a result
 * occurrences: of the token of each cell in its message; NULL: 1
 * groups: of the token of each cell
 * scores: a result, for each message a row of all classes
 * votes: a result, for each message how much evidence it has; undefined if is_sum
 */
struct evidence_rows {
    const double *log_likelihoods;
    const int64_t *occurrences, *bounds;
    const int8_t *groups;
    size_t n_messages;
    double *weights, *scores, *votes;
};

/* Pools the evidence of messages. Returns false if there is too little memory. */
bool pool_rows(const struct pooling *pooling, const struct evidence_rows *rows);

enum event_model { BOOLEAN_MODEL, MULTINOMIAL_MODEL, BERNOULLI_MODEL };

/* A model, and messages that it has learned; each message is scored by the model without the message.
 *
 * counts: of each token, a row of all classes: occurrences in a multinomial model, or else messages
 * token_groups: of each token; -1: no other message has the token
 * documents, totals: of each class its messages, and the sum of its counts
 * logs: log(n + alpha) of each number n below n_logs
 * log_priors: for each class, the log priors of all classes if a message of this class is left out
 * ids: the token of each cell; occurrences, bounds: as in evidence_rows; labels: the class of each message
 */
struct left_out {
    enum event_model model;
    double alpha;
    int64_t vocabulary_size;
    const uint32_t *counts;
    const int8_t *token_groups;
    const int64_t *documents, *totals;
    const double *logs, *log_priors;
    const int32_t *ids;
    const int64_t *occurrences, *bounds, *labels;
    size_t n_logs, n_messages;
    double *scores; /* a result */
};

/* Scores messages. Returns false if there is too little memory. */
bool score_left_out(const struct pooling *pooling, const struct left_out *left_out);
