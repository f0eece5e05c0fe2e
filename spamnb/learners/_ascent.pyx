# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""What ascent.py and the formulas of correction.py do in Python, compiled: the same numbers to the last bit."""

from libc.math cimport INFINITY, exp, fabs, log, log1p, rint
from libc.stdint cimport int32_t, int64_t

import numpy as np

from spamnb.formulas import correction

MADE_FOR = 1  # ASCENT_VERSION of ascent.py

cdef double UNIT = correction.UNIT
cdef double TOLERANCE = 0.01  # as in ascent.py, which imports this
cdef int MAX_STEPS = correction.MAX_STEPS


cdef double omega(double x) noexcept nogil:
    cdef double w
    cdef int i
    if x < -30.0:
        return exp(x)
    w = exp(x) / (1 + exp(x)) if x < 1.0 else x - log(x) * x / (1 + x)
    for i in range(4):
        w *= exp((x - w - log(w)) / (1 + w))
    return w


cdef void coefficients(const double* scores, int y, double penalty, int classes, double* parts) noexcept nogil:
    cdef double top = -INFINITY, log_penalty = log(penalty), gap, u, s, p, log_z, total, slope, error, step, a
    cdef double low = -INFINITY, high = INFINITY
    cdef int k, i
    for k in range(classes):
        if k != y and scores[k] > top:
            top = scores[k]
    gap = scores[y] - top
    u = -gap
    if gap < log_penalty:
        s = min((log_penalty - gap) / 2, penalty / 2)
        u = max(log(s / (penalty - s)), -gap - 2 * penalty)
    total = 0.0
    for i in range(MAX_STEPS):
        p = 1 / (1 + exp(-u)) if u > -700 else 0.0
        s = penalty * p
        log_z = scores[y] + s + (u + log1p(exp(-u)) if u > 0 else log1p(exp(u)))
        total = slope = 1e-300
        for k in range(classes):
            if k != y:
                a = omega(log_penalty + scores[k] - log_z)
                parts[k] = -a
                total += a
                slope += a / (1 + a)
        if s < 1e-30:
            break
        error = log(total / s)
        if error > 0:
            low = u
        else:
            high = u
        step = min(max(error / (slope / total * (s * (1 - p) + p) + 1 - p), -8.0), 8.0)
        u += step
        if fabs(step) < 1e-10:
            break
        if not low < u < high:
            u = (low + high) / 2
    parts[y] = total


def ascend(const int64_t[::1] indptr, const int32_t[::1] columns, const double[::1] values, const double[:, ::1] offsets,
           const int64_t[::1] labels, const int64_t[::1] order, double penalty, int passes,
           int64_t[:, ::1] brought, int64_t[:, ::1] weights):
    cdef Py_ssize_t classes = offsets.shape[1], i, j, n, begin, end
    cdef int k, y, done = 0, number
    cdef int64_t moved, rest, largest, first, second
    cdef double scale
    cdef const int32_t* cell
    cdef int64_t* weight = &weights[0, 0] if weights.shape[0] else NULL
    cdef double[::1] of_message = np.zeros(classes), parts = np.zeros(classes)
    cdef int64_t[::1] sums = np.zeros(classes, np.int64), change = np.zeros(classes, np.int64)
    cdef double worst
    with nogil:
        for number in range(passes):
            done += 1
            worst = 0
            for n in range(order.shape[0]):
                i = order[n]
                begin, end, y = indptr[i], indptr[i + 1], <int> labels[i]
                cell = &columns[0] + begin if begin < end else NULL
                for k in range(classes):
                    sums[k] = (begin - end) * brought[i, k]
                if classes == 2:  # units of both sum to 0: half of the work, and no loop within the loop
                    first = 0
                    for j in range(end - begin):
                        first += weight[2 * cell[j]]
                    sums[0] += first
                    sums[1] -= first
                else:
                    for j in range(end - begin):
                        for k in range(classes):
                            sums[k] += weight[classes * cell[j] + k]
                scale = values[i] * UNIT
                for k in range(classes):
                    of_message[k] = offsets[i, k] + scale * sums[k]
                coefficients(&of_message[0], y, penalty, <int> classes, &parts[0])
                scale = values[i] / UNIT
                rest, largest = 0, 0
                for k in range(classes):
                    if k != y:
                        moved = <int64_t> rint(parts[k] * scale)
                        rest -= moved
                        change[k] = moved - brought[i, k]
                        brought[i, k] = moved
                        largest = max(largest, change[k], -change[k])
                change[y] = rest - brought[i, y]
                brought[i, y] = rest
                largest = max(largest, change[y], -change[y])
                if largest:
                    worst = max(worst, largest / scale)
                    if classes == 2:
                        first, second = change[0], change[1]
                        for j in range(end - begin):
                            weight[2 * cell[j]] += first
                            weight[2 * cell[j] + 1] += second
                    else:
                        for j in range(end - begin):
                            for k in range(classes):
                                weight[classes * cell[j] + k] += change[k]
            if worst < TOLERANCE:
                break
    return done


def take_out(const int64_t[::1] indptr, const int32_t[::1] columns, const int64_t[::1] messages,
             const int64_t[:, ::1] brought, int64_t[:, ::1] weights):
    cdef Py_ssize_t classes = weights.shape[1], i, j, n, k
    with nogil:
        for n in range(messages.shape[0]):
            i = messages[n]
            for j in range(indptr[i], indptr[i + 1]):
                for k in range(classes):
                    weights[columns[j], k] -= brought[i, k]


def sum_weights(const int64_t[::1] indptr, const int32_t[::1] columns, const int64_t[::1] messages,
                const int64_t[:, ::1] weights):
    cdef Py_ssize_t classes = weights.shape[1], i, j, n, k
    out = np.zeros((len(messages), classes), np.int64)
    cdef int64_t[:, ::1] sums = out
    with nogil:
        for n in range(messages.shape[0]):
            i = messages[n]
            for j in range(indptr[i], indptr[i + 1]):
                for k in range(classes):
                    sums[n, k] += weights[columns[j], k]
    return out
