/* The loops of formulas/correction.py, where the formulas are explained. Each adds in one order only, so that all
 * machines find the same. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n messages, of which message i has columns[begins[i]] up to columns[ends[i] - 1]. contributions and weights are rows of
 * whole numbers, of a message and of a column. Those of all classes sum to 0: of the first class none are kept, of the
 * others n_others. Without contributions the messages have no part in the weights. */
struct fit {
    const int64_t *begins, *ends;
    const int32_t *columns;
    const double *values, *offsets;
    const int64_t *labels, *visits; /* visits: the messages to visit */
    int64_t *contributions, *weights;
    size_t n_visits, n_others;
    double penalty, noise, unit, least;
};

void solve(const double *scores, size_t classes, size_t y, double penalty, double *found);
/* All of these visit each message once. */
/* Solves for it; by how much the coefficient moved that moved most, or -1 where there is no memory. */
double fit_sweep(const struct fit *fit);
/* Takes out of the weights what it contributions. */
void fit_take_out(const struct fit *fit);
/* Writes its scores, one row after the other; false where there is no memory. */
bool fit_scores(const struct fit *fit, double *scores);
