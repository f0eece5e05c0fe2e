/* The loops of formulas/correction.py, where the formulas are explained. Each adds in one order only, so that all
 * machines find the same. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A matrix of whole numbers, row by row. Units of all classes sum to 0: those of the first are not kept. */
struct units {
    int64_t *at;
    size_t rows, columns;
};

/* Which columns each message has: message i has columns[indptr[i]] up to columns[indptr[i + 1] - 1]. */
struct rows {
    const int64_t *indptr;
    const int32_t *columns;
    size_t n, n_columns; /* messages; columns of all of them */
};

/* Messages to visit, in their order. */
struct visits {
    const int64_t *messages;
    size_t n;
};

struct fit {
    struct rows rows;
    struct visits order;
    const double *values, *offsets;
    const int64_t *labels;
    double penalty, noise, unit, tolerance, least;
    long passes;
    struct units brought, weights;
};

/* Whether all messages to visit are there, and all of their columns below n_columns. `ascend` expects it. */
bool rows_fit(const struct rows *rows, const struct visits *order, size_t n_columns);

void solve(const double *scores, size_t classes, size_t y, double penalty, double *found);
/* How many passes there were; -1 where there is no memory. */
long ascend(const struct fit *fit);
