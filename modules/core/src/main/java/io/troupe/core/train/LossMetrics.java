package io.troupe.core.train;

/**
 * The metrics of the loss of a whole step. Means, shares and quantiles are over the rollouts'
 * tokens with a loss weight above 0, each counting once; all are 0 when there is none. The
 * q-quantile of n numbers is the ceil(q n)-th smallest of them.
 *
 * @param loss of the step before it: policy, penalty, distillation, entropy and examples
 * @param distillation mean divergence from the teacher over the tokens that it spoke of, in nats,
 *     without its coefficient
 * @param supervisedLoss weighted negative log-likelihood of the examples, without its coefficient
 * @param behaviourKl mean k3 estimate of KL(sampler || trainer): how far the weights, and the
 *     engines' arithmetic, have moved since sampling
 * @param gapMean mean |log p - log q|, in nats
 * @param gapP99 0.99-quantile of |log p - log q|
 * @param gapMax largest |log p - log q|
 * @param referenceKl mean estimate of KL(policy || reference) by the loss's estimator; 0 without a
 *     penalty in the loss
 * @param referenceKlMax largest such estimate of a token
 * @param clippedLow share of tokens whose ratio to the sampler is below the clip range
 * @param clippedHigh share of tokens whose ratio is above it
 * @param ratioP50 median of p/q
 * @param ratioP90 0.9-quantile of p/q
 * @param ratioP99 0.99-quantile of p/q
 * @param ratioMax largest p/q
 * @param effectiveShare effective sample size of the weights p/q, over the number of tokens: (sum
 *     p/q)² / (n sum (p/q)²), in (0, 1]
 * @param truncated share of tokens whose importance weight was cut to the correction's cap
 * @param correctionMasked share of tokens without a weight, by IcePop or a sequence mask
 * @param tokens of the rollouts
 * @param supervisedTokens of the examples
 */
public record LossMetrics(
    double loss,
    double distillation,
    double supervisedLoss,
    double behaviourKl,
    double gapMean,
    double gapP99,
    double gapMax,
    double referenceKl,
    double referenceKlMax,
    double clippedLow,
    double clippedHigh,
    double ratioP50,
    double ratioP90,
    double ratioP99,
    double ratioMax,
    double effectiveShare,
    double truncated,
    double correctionMasked,
    long tokens,
    long supervisedTokens) {}
