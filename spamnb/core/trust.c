#include "trust.h"

#include "interface.h"

void compute_trust(const double *odds, size_t n, double noise, double *trusts) {
    for (size_t i = 0; i < n; i++)
        trusts[i] = trust(odds[i], noise);
}
