/* The scores of messages by naive Bayes and its correction: spamnb/formulas/pooling.py and correction.py explain the
 * formulas. One function serves classification, evidence, and the scores of messages that the model has learned. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_model { BOOLEAN_MODEL, MULTINOMIAL_MODEL, BERNOULLI_MODEL };

/* A model of n_tokens tokens.
 *
 * is_sum: log likelihoods are added up, and groups and exponents are not used
 * information_halves: the exponent of a token's information, in halves, because sqrt is three times as fast as pow
 * scale: factor of naive Bayes' scores
 * unit: nats of one unit of corrections
 * logs: log(n + alpha) of each number n below n_logs
 * counts: of each token, a row of all classes: occurrences in a multinomial model, messages in the others
 * groups: of each token; -1: the token is not in the model
 * corrections: of each token, a row of all classes, in units; NULL: the model has no correction
 * documents, totals: of each class its messages, and the sum of its counts
 * intercepts: a row of all classes, the scores of a message without tokens; for messages that the model has learned, a
 *     row for each class of the message
 */
struct score_model {
    enum event_model event_model;
    bool is_sum;
    size_t n_classes, n_groups, n_tokens, n_logs, information_halves;
    double alpha, group_exponent, prior_weight, scale, unit;
    int64_t vocabulary_size;
    const double *logs;
    const uint32_t *counts;
    const int8_t *groups;
    const int64_t *corrections, *documents, *totals;
    const double *intercepts;
};

/* Messages, and results. Message i has the cells from bounds[i] to bounds[i + 1].
 *
 * ids: the token of each cell; the tokens of a message are distinct
 * occurrences: of the token of each cell in its message; only multinomial models use them
 * labels: the class of each message. The model has learned the messages, each is scored by the model without it, and
 *     the group of a token is -1 if no other message has it. NULL: the model has not learned the messages
 * scores: for each message a row of all classes, in nats
 * votes: for each message how much evidence the model has; 0 if it has none of the tokens
 * weights: for each cell a row of all classes, its part of the scores; NULL: not wanted. Zeros before the call
 * correction_weights: as weights, the part of the correction
 */
struct score_rows {
    size_t n_messages;
    const int64_t *bounds;
    const int32_t *ids;
    const int64_t *occurrences, *labels;
    double *scores, *votes, *weights, *correction_weights;
};

/* Scores messages. Returns false if there is too little memory. */
bool score_messages(const struct score_model *model, const struct score_rows *rows);
