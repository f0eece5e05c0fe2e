/* Trust in a label: spamnb/model/trust.py explains the formula. */
#pragma once

/* Returns the probability that a label is right. noise: the share of labels that are wrong. odds: (1 - p)/p, where p is
 * the probability of the label by a model without the message. */
static inline double trust(double odds, double noise) {
    return (1 - noise) / (1 - noise + noise * odds);
}
