/* The loops of formulas/correction.py, where the formulas are explained. Sums have one order, so that all machines get the
 * same results. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n messages; message i has columns[begins[i]] to columns[ends[i] - 1]. The rows of contributions (of messages) and
 * weights (of columns) are whole numbers of units, one for each class but the first: those of all classes sum to 0.
 * contributions may be NULL: then the messages have no part in the weights. */
struct fit {
    const int64_t *begins, *ends;
    const int32_t *columns;
    const double *values, *offsets;
    const int64_t *labels, *visits; /* visits: the messages that a call visits, each once */
    int64_t *contributions, *weights;
    size_t n_visits, n_others; /* n_others: the classes but the first */
    double penalty, noise, unit, least;
};

/* Fits the contribution of each message; returns the largest change of a coefficient, -1 without memory. */
double fit_sweep(const struct fit *fit);
/* Subtracts the contributions of the messages from the weights. */
void fit_take_out(const struct fit *fit);
/* Writes the scores of the messages, a row each; false without memory. */
bool fit_scores(const struct fit *fit, double *scores);
