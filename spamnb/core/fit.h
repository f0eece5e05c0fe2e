/* The loops of spamnb/formulas/correction.py, which explains the formulas. Each sum is computed in a fixed order, so
 * that the results are the same on all machines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The problem: n messages whose scores are corrected.
 *
 * columns: the tokens of message i are columns[begins[i]] to columns[ends[i] - 1], without repetition
 * values: 1/sqrt(number of tokens) of each message
 * offsets: naive Bayes' scores in nats, a row of all classes for each message
 * labels: the class number of each message
 * visits: the n_visits messages that a call visits, each once
 * contributions: a row for each message; NULL if the weights contain no contributions of these messages
 * weights: a row for each token
 * penalty: C of the formula, the largest coefficient of a message with trust 1
 * noise: the share of labels that are wrong
 * unit: nats of one unit
 * least: nats; a smaller coefficient of a message becomes 0
 *
 * Contributions and weights are whole numbers of units. Their rows have row_size numbers: one for each class except the
 * first, because the numbers of all classes sum to 0.
 */
struct fit {
    const int64_t *begins, *ends;
    const int32_t *columns;
    const double *values, *offsets;
    const int64_t *labels, *visits;
    int64_t *contributions, *weights;
    size_t n_visits, row_size;
    double penalty, noise, unit, least;
};

/* Fits the contribution of each visited message, and adds its changes to the weights. Returns the largest change of a
 * coefficient, in nats; -1 if there is too little memory. */
double fit_sweep(const struct fit *fit);
/* Subtracts the contributions of the visited messages from the weights. */
void fit_take_out(const struct fit *fit);
/* Writes a row of scores, in nats, for each visited message. They do not include the message's own
 * contribution. Returns false if there is too little memory. */
bool fit_scores(const struct fit *fit, double *scores);
