package io.troupe.core.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.train.Correction.None;
import io.troupe.core.train.Correction.TruncatedImportance;
import io.troupe.core.train.Objective.Dapo;
import io.troupe.core.train.Objective.DrGrpo;
import io.troupe.core.train.Objective.Grpo;
import org.junit.jupiter.api.Test;

final class LossFormulaTest {
  private static String describe(
      Objective objective,
      double low,
      double high,
      Correction correction,
      double beta,
      KlEstimator estimator,
      double temperature) {
    LossSettings s =
        new LossSettings(objective, low, high, correction, beta, estimator, temperature);
    return LossFormula.describe(s, 16, 2);
  }

  @Test
  void describe_grpoWithPenalty_isThePapersLoss() {
    assertThat(describe(new Grpo(), .2, .2, new None(), .001, KlEstimator.K3, 1))
        .isEqualTo(
            """
            policy       p = softmax(logits / 1)                 the trainer's, of the sampled token; carries the gradient
            advantage    A = (r - mean(r)) / max(std(r), 1e-6)   r: the rewards of a group of 16; std divides by 16
            ratio        rho = p / q                             q: the sampler's probability of the token
            surrogate    S = min(rho A, clip(rho, 0.8, 1.2) A)
            KL penalty   K = exp(d) - d - 1                      d = log p_ref - log p; p_ref: by the reference
            token loss   l = -(S - 0.001 K)
            loss         L = 1/N sum_i 1/n_i sum_t l             N: sequences of the step with a trained token
                                                                 n_i: trained tokens of sequence i
            trained      staleness <= 2                          an older token is in no sum and no count""");
  }

  @Test
  void describe_dapoWithTruncatedImportance_weighsTheSurrogate() {
    assertThat(describe(new Dapo(), .2, .28, new TruncatedImportance(2), 0, KlEstimator.K3, 1))
        .isEqualTo(
            """
            policy       p = softmax(logits / 1)                  the trainer's, of the sampled token; carries the gradient
            advantage    A = (r - mean(r)) / max(std(r), 1e-6)    r: the rewards of a group of 16; std divides by 16
            ratio        rho = p / p'                             p': p at the start of the step
            weight       w = min(p' / q, 2)                       q: the sampler's probability of the token; no gradient
            surrogate    S = min(rho A, clip(rho, 0.8, 1.28) A)
            token loss   l = -w S
            loss         L = 1/n sum_i sum_t l                    n: trained tokens of the step
            trained      staleness <= 2                           an older token is in no sum and no count""");
  }

  @Test
  void describe_drGrpoWithoutClipping_isThePlainRatio() {
    assertThat(describe(new DrGrpo(512), 0, 0, new None(), 0, KlEstimator.K3, .7))
        .isEqualTo(
            """
            policy       p = softmax(logits / 0.7)     the trainer's, of the sampled token; carries the gradient
            advantage    A = r - mean(r)               r: the rewards of a group of 16
            ratio        rho = p / q                   q: the sampler's probability of the token
            surrogate    S = rho A
            token loss   l = -S
            loss         L = 1/(512 N) sum_i sum_t l   N: sequences of the step with a trained token
            trained      staleness <= 2                an older token is in no sum and no count""");
  }

  @Test
  void describe_eachEstimator_isWrittenOut() {
    Objective objective = new Dapo();
    Correction correction = new TruncatedImportance(1.5);
    assertThat(describe(objective, 0, .9, correction, 1e-5, KlEstimator.K1, 1))
        .contains("\nKL penalty   K = -d  ")
        .contains("\ntoken loss   l = -(w S - 0.00001 K)\n")
        .contains("clip(rho, 1, 1.9)")
        .contains("w = min(p' / q, 1.5) ");
    assertThat(describe(objective, .9, 0, correction, 1e-5, KlEstimator.K2, 1))
        .contains("\nKL penalty   K = d^2 / 2  ")
        .contains("clip(rho, 0.1, 1)");
  }
}
