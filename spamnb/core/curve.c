#include "interface.h"

#include <math.h>

#include "trust.h"

enum { MAX_STEPS = 8 };                    /* of Newton's method in a round; the next round continues */
static const double FIRST_NOISE = 0.2;     /* share of wrong labels in the first round; later rounds estimate it */
static const double DOUBT_MESSAGES = 50.0; /* in the smaller side; d in curve_fit is 3/4 at this number */
static const double MAX_MOVE = 2.0;        /* nats: a step that changes a log-odds by more overshoots */
static const double MIN_MOVE = 1e-3;       /* nats: a step that changes no log-odds by more is the last */
static const double MIN_CURVATURE = 1e-9;  /* of the likelihood of a message: at 0, Newton's step is undefined */

static double clip(double x, double bound) {
    return fmin(fmax(x, -bound), bound);
}

/* A bin that has messages. */
struct bin {
    double own, others, imagined_own, imagined_others; /* messages */
    double x, log_odds;                                /* nats: the compressed margin, and its log-odds */
    double total, target; /* messages of both sides in this round, and the sum of their targets */
};

/* Writes the bins that have messages, and returns their number. */
static size_t collect_bins(const struct curve *curve, struct bin *bins) {
    const int64_t *own = curve->counts, *others = own + CURVE_BINS;
    const double *imagined_own = curve->imagined, *imagined_others = imagined_own + CURVE_BINS;
    size_t n = 0;
    for (size_t b = 0; b < CURVE_BINS; b++)
        if (own[b] > 0 || others[b] > 0 || imagined_own[b] > 0 || imagined_others[b] > 0)
            bins[n++] = (struct bin){
                .own = own[b] > 0 ? (double)own[b] : 0.0,
                .others = others[b] > 0 ? (double)others[b] : 0.0,
                .imagined_own = imagined_own[b],
                .imagined_others = imagined_others[b],
                .x = curve->knee * asinh(curve->margins[b] / curve->knee),
                .log_odds = curve->margins[b], /* in the first round */
            };
    return n;
}

/* Takes one step of Newton's method. Returns the largest change of a log-odds by the whole step, which
 * is shortened to MAX_MOVE. */
static double step(struct curve *curve, const struct bin *bins, size_t n) {
    double w = 0, wx = 0, wxx = 0, g = 0, gx = 0; /* sums of weights and gradients */
    for (size_t b = 0; b < n; b++) {
        double x = bins[b].x, p = 1 / (1 + exp(-clip(curve->slope * x + curve->intercept, curve->max_log_odds)));
        double weight = bins[b].total * fmax(p * (1 - p), MIN_CURVATURE), gradient = bins[b].target - bins[b].total * p;
        w += weight, wx += weight * x, wxx += weight * x * x;
        g += gradient, gx += gradient * x;
    }
    double determinant = w * wxx - wx * wx, slope = (w * gx - wx * g) / determinant;
    double intercept = (wxx * g - wx * gx) / determinant, move = 0;
    for (size_t b = 0; b < n; b++)
        move = fmax(move, fabs(slope * bins[b].x + intercept));
    double share = fmin(1.0, MAX_MOVE / fmax(move, MAX_MOVE));
    curve->slope += share * slope;
    curve->intercept += share * intercept;
    return move;
}

void curve_fit(struct curve *curve) {
    struct bin bins[CURVE_BINS];
    size_t n = collect_bins(curve, bins);
    double messages = 0, noise = FIRST_NOISE, own = 0, others = 0; /* own and others: messages of each side */
    for (size_t b = 0; b < n; b++)
        messages += bins[b].own + bins[b].others;
    curve->slope = 1.0, curve->intercept = 0.0;
    for (size_t round = 0; round < curve->rounds; round++) {
        double wrong_own = own = others = 0, wrong_others = 0;
        for (size_t b = 0; b < n; b++) {
            double odds = exp(clip(bins[b].log_odds, curve->max_log_odds));
            double bin_wrong_own = bins[b].own * (1 - trust(1 / odds, noise));
            double bin_wrong_others = bins[b].others * (1 - trust(odds, noise));
            double shift = bin_wrong_others - bin_wrong_own;
            double bin_own = bins[b].own + shift + bins[b].imagined_own;
            double bin_others = bins[b].others - shift + bins[b].imagined_others;
            wrong_own += bin_wrong_own, wrong_others += bin_wrong_others;
            own += bin_own, others += bin_others;
            bins[b].total = bin_own + bin_others, bins[b].target = bin_own;
        }
        noise = wrong_own + wrong_others + curve->prior_noise * curve->prior_messages;
        noise /= messages + curve->prior_messages;
        curve->wrong_own = wrong_own, curve->wrong_others = wrong_others;
        double d = 0.5 + 0.5 * DOUBT_MESSAGES / (DOUBT_MESSAGES + fmin(own, others));
        double high = (own + d) / (own + 2 * d), low = d / (others + 2 * d);
        for (size_t b = 0; b < n; b++)
            bins[b].target = bins[b].target * high + (bins[b].total - bins[b].target) * low;
        for (int i = 0; i < MAX_STEPS && step(curve, bins, n) >= MIN_MOVE; i++)
            continue;
        for (size_t b = 0; b < n; b++)
            bins[b].log_odds = curve->slope * bins[b].x + curve->intercept;
    }
    if (curve->slope <= 0) { /* a higher margin does not make the class more probable: ignore margins */
        curve->slope = 0.0;
        curve->intercept = log(own / others);
    }
}
