/* Fits the curve of a calibration for spamnb/formulas/calibration.py, which explains the formulas. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CURVE_BINS = 512 }; /* of a histogram */

/* A curve: log-odds = slope * compressed margin + intercept. It has two sides: the messages of its class, and all
 * others. counts and imagined have a row of CURVE_BINS for each side. */
struct curve {
    const int64_t *counts;              /* scored messages; a negative number counts as 0 */
    const double *imagined;             /* messages that the prior of the curve adds */
    const double *margins;              /* of the bins, in nats */
    double knee;                        /* nats */
    double max_log_odds;                /* nats: no probability is 0 or 1 */
    double prior_noise, prior_messages; /* the prior of the noise: its mean, and its weight in messages */
    size_t rounds;                      /* each computes trust and noise from the last curve, then the next */
    double slope, intercept;            /* results; the intercept is in nats */
    double wrong_own, wrong_others;     /* results: expected numbers of scored messages whose label is wrong */
};

/* Writes the results of a curve. */
void curve_fit(struct curve *curve);
