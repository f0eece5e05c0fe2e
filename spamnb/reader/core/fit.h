/* The loops of formulas/correction.py, where the formulas are explained. Each adds in one order only, so that all
 * machines find the same. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n messages, of which message i has columns[indptr[i]] up to columns[indptr[i + 1] - 1]. brought and weights are rows
 * of whole numbers, of a message and of a column. Those of all classes sum to 0: of the first class none are kept, of
 * the others n_others. */
struct fit {
    const int64_t *indptr;
    const int32_t *columns;
    const double *values, *offsets;
    const int64_t *labels, *order; /* order: the messages to visit */
    int64_t *brought, *weights;
    size_t n_visits, n_others;
    double penalty, noise, unit, tolerance, least;
    size_t passes;
};

void solve(const double *scores, size_t classes, size_t y, double penalty, double *found);
/* How many passes there were; -1 where there is no memory. */
long ascend(const struct fit *fit);
