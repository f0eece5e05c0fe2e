#include "interface.h"

#include <math.h>
#include <stdlib.h>

#include "trust.h"

enum { MAX_STEPS = 100 };              /* of Newton's method; 120,000 fits on two corpora needed at most 8 */
static const double MAX_SCORE = 1e300; /* nats: finite, so that the difference of two scores is a number */

/* Returns Wright's omega function of x: the number w > 0 for which w + log w = x. */
static double omega(double x) {
    if (x < -30.0)
        return exp(x); /* w = exp(x - w), and w is below 1e-13 */
    double w = x < 1.0 ? exp(x) / (1 + exp(x)) : x - log(x) * x / (1 + x);
    double step = 2.0;
    for (int i = 0; i < 4 && fabs(step - 1) > 1e-9; i++) { /* Newton's method for log w */
        step = exp((x - w - log(w)) / (1 + w));
        w *= step;
    }
    return w;
}

/* Returns the odds against label y by the softmax of a message's scores. */
static double odds_against(const double *scores, size_t classes, size_t y) {
    double odds = 0.0;
    for (size_t k = 0; k < classes; k++)
        if (k != y) {
            double gap = scores[k] - scores[y];
            odds += exp(gap < 500.0 ? gap : 500.0); /* exp(710) would be infinite */
        }
    return odds;
}

/* Returns the coefficient of label y among two classes, C sigma(u), where C is the penalty, gap the score of y without
 * the coefficients less the other score, and u the log-odds against y with the coefficients:
 *
 *     u + gap + 2 C sigma(u) = 0,
 *
 * because the two coefficients widen the gap by twice their size. The left side rises with u. The argument u is a first
 * guess. */
static double solve_two_classes(double gap, double penalty, double u) {
    double low = -MAX_SCORE, high = MAX_SCORE, s = 0.0;
    for (int i = 0; i < MAX_STEPS; i++) {
        double p = u > -700 ? 1 / (1 + exp(-u)) : 0.0;
        s = penalty * p;
        double error = u + gap + 2 * s, step = -error / (1 + 2 * s * (1 - p));
        *(error < 0 ? &low : &high) = u;
        u += step;
        if (fabs(step) < 1e-10)
            break;
        if (!(low < u && u < high))
            u = (low + high) / 2;
    }
    return s;
}

/* Writes the coefficients c of one message, which solve its dual problem. C is the penalty, Z the sum of exp(score + c)
 * over all classes, and p_y the corrected probability of label y. The only unknown is u = log((1 - p_y)/p_y), because
 *
 *     c_y = C sigma(u),    log Z = scores_y + c_y + log(1 + e^u),
 *
 * and each other coefficient is c_k = -a_k, where a_k = C exp(scores_k - a_k - log Z) is a value of Wright's omega
 * function. All coefficients sum to 0, so at the solution C sigma(u) is the sum of all a_k. As u rises, the sum falls and
 * C sigma(u) rises, so there is one solution. Newton's method finds the solution. If a step leaves the interval from
 * low to high, the interval is halved instead. */
static void solve_dual(const double *scores, size_t classes, size_t y, double penalty, double *coefficients) {
    double top = -MAX_SCORE, low = -MAX_SCORE, high = MAX_SCORE;
    for (size_t k = 0; k < classes; k++)
        if (k != y && scores[k] > top)
            top = scores[k];
    double log_penalty = log(penalty), gap = scores[y] - top, u = -gap, total = 0.0;
    if (gap < log_penalty) { /* a first guess of u */
        double s = fmin((log_penalty - gap) / 2, penalty / 2);
        u = fmax(log(s / (penalty - s)), -gap - 2 * penalty);
    }
    if (classes == 2) {
        coefficients[y] = solve_two_classes(gap, penalty, u);
        coefficients[1 - y] = -coefficients[y];
        return;
    }
    for (int i = 0; i < MAX_STEPS; i++) {
        double p = u > -700 ? 1 / (1 + exp(-u)) : 0.0; /* p is 1 - p_y */
        double s = penalty * p;
        double log_z = scores[y] + s + (u > 0 ? u + log1p(exp(-u)) : log1p(exp(u)));
        double slope = total = 1e-300;
        for (size_t k = 0; k < classes; k++)
            if (k != y) {
                double a = omega(log_penalty + scores[k] - log_z);
                coefficients[k] = -a;
                total += a;
                slope += a / (1 + a);
            }
        if (s < 1e-30) /* the coefficients are far less than a unit */
            break;
        double error = log(total / s);
        *(error > 0 ? &low : &high) = u;
        double step = fmin(fmax(error / (slope / total * (s * (1 - p) + p) + 1 - p), -8.0), 8.0);
        u += step;
        if (fabs(step) < 1e-10)
            break;
        if (!(low < u && u < high))
            u = (low + high) / 2;
    }
    coefficients[y] = total;
}

/* Adds sign * units to the weights of each column of message i. */
static void add_to_weights(const struct fit *fit, size_t i, const int64_t *units, int64_t sign) {
    if (fit->row_size == 1) { /* two classes need no inner loop */
        for (int64_t j = fit->begins[i], change = sign * *units; j < fit->ends[i]; j++)
            fit->weights[fit->columns[j]] += change;
        return;
    }
    for (int64_t j = fit->begins[i]; j < fit->ends[i]; j++)
        for (size_t k = 0; k < fit->row_size; k++)
            fit->weights[(size_t)fit->columns[j] * fit->row_size + k] += sign * units[k];
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Writes the scores of message i, in nats, without its own contribution. sums: memory for row_size numbers. */
static void compute_scores(const struct fit *fit, size_t i, int64_t *sums, double *scores) {
    size_t row_size = fit->row_size;
    int64_t begin = fit->begins[i], end = fit->ends[i], first_sum = 0;
    for (size_t k = 0; k < row_size; k++)
        sums[k] = fit->contributions ? (begin - end) * fit->contributions[i * row_size + k] : 0;
    if (row_size == 1) { /* two classes need no inner loop */
        int64_t sum = 0;
        for (int64_t j = begin; j < end; j++)
            sum += fit->weights[fit->columns[j]];
        sums[0] += sum;
    } else
        for (int64_t j = begin; j < end; j++)
            for (size_t k = 0; k < row_size; k++)
                sums[k] += fit->weights[(size_t)fit->columns[j] * row_size + k];
    double scale = fit->values[i] * fit->unit;
    const double *offsets = fit->offsets + i * (row_size + 1);
    for (size_t k = 0; k < row_size; k++) {
        scores[k + 1] = offsets[k + 1] + scale * (double)sums[k];
        first_sum -= sums[k];
    }
    scores[0] = offsets[0] + scale * (double)first_sum;
}

/* Fits the contribution of message i, and adds the change to the weights. Returns the largest change of a coefficient,
 * in nats. scores, coefficients: memory for a number of each class; change: memory for row_size numbers. */
static double fit_message(const struct fit *fit, size_t i, double *scores, double *coefficients, int64_t *change) {
    size_t row_size = fit->row_size, classes = row_size + 1, y = (size_t)fit->labels[i];
    int64_t *contributions = fit->contributions + i * row_size, label_contribution = 0, first_change = 0, largest = 0;
    compute_scores(fit, i, change, scores);
    double penalty = fit->penalty * trust(odds_against(scores, classes, y), fit->noise);
    solve_dual(scores, classes, y, penalty, coefficients);
    double scale = fit->values[i] / fit->unit;
    for (size_t k = 0; k < classes; k++)
        if (k != y) {
            double units = floor(coefficients[k] * scale + 0.5);
            int64_t contribution = coefficients[k] <= -fit->least && units > -0x1p62 ? (int64_t)units : 0;
            label_contribution -= contribution;
            if (k)
                change[k - 1] = contribution - contributions[k - 1];
        }
    if (y)
        change[y - 1] = label_contribution - contributions[y - 1];
    for (size_t k = 0; k < row_size; k++) {
        first_change -= change[k];
        largest = larger(largest, larger(change[k], -change[k]));
    }
    largest = larger(largest, larger(first_change, -first_change));
    if (!largest || (double)largest < fit->least_change * scale)
        return 0.0;
    double share = fmin(1.0, fit->most_change * scale / (double)largest);
    for (size_t k = 0; k < row_size; k++) {
        change[k] = (int64_t)((double)change[k] * share);
        contributions[k] += change[k];
    }
    add_to_weights(fit, i, change, 1);
    return share * (double)largest / scale;
}

double fit_sweep(const struct fit *fit) {
    size_t classes = fit->row_size + 1;
    double *numbers = calloc(classes, 2 * sizeof *numbers), largest = -1.0;
    int64_t *units = calloc(classes, sizeof *units);
    if (numbers && units) {
        largest = 0.0;
        for (size_t n = 0; n < fit->n_visits; n++)
            largest = fmax(largest, fit_message(fit, (size_t)fit->visits[n], numbers, numbers + classes, units));
    }
    free(numbers);
    free(units);
    return largest;
}

void fit_take_out(const struct fit *fit) {
    for (size_t n = 0; n < fit->n_visits; n++) {
        size_t i = (size_t)fit->visits[n];
        add_to_weights(fit, i, fit->contributions + i * fit->row_size, -1);
    }
}

bool fit_scores(const struct fit *fit, double *scores) {
    int64_t *sums = calloc(fit->row_size + 1, sizeof *sums);
    for (size_t n = 0; sums && n < fit->n_visits; n++)
        compute_scores(fit, (size_t)fit->visits[n], sums, scores + n * (fit->row_size + 1));
    free(sums);
    return sums != NULL;
}
