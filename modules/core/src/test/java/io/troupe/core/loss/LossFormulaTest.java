package io.troupe.core.loss;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.advantage.Baseline;
import io.troupe.core.advantage.OverlongPunishment;
import io.troupe.core.loss.Correction.None;
import io.troupe.core.loss.Correction.TruncatedImportance;
import io.troupe.core.loss.Objective.Dapo;
import io.troupe.core.loss.Objective.DrGrpo;
import io.troupe.core.loss.Objective.Grpo;
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
    return LossFormula.describe(s, 16, 2, 0);
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
            trained      staleness <= 2                          an older token is in no sum and no count\
            """);
  }

  @Test
  void describe_dapoWithTruncatedImportance_weighsTheSurrogate() {
    assertThat(describe(new Dapo(), .2, .28, new TruncatedImportance(2), 0, KlEstimator.K3, 1))
        .isEqualTo(
            """
            policy       p = softmax(logits / 1)                  the trainer's, of the sampled token; carries the gradient
            advantage    A = (r - mean(r)) / max(std(r), 1e-6)    r: the rewards of a group of 16; std divides by 16
            ratio        rho = p / p'                             p': p at the start of the step: 1 in value, never clipped
            weight       w = min(p' / q, 2)                       q: the sampler's probability of the token; no gradient
            surrogate    S = min(rho A, clip(rho, 0.8, 1.28) A)
            token loss   l = -w S
            loss         L = 1/n sum_i sum_t l                    n: trained tokens of the step
            trained      staleness <= 2                           an older token is in no sum and no count\
            """);
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
            trained      staleness <= 2                an older token is in no sum and no count\
            """);
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

  /** Advantages to the others' mean, the usual clip range, and whatever the test is about. */
  private static LossSettings settings(
      Objective objective,
      Correction correction,
      SequenceMask mask,
      double beta,
      KlPlacement place,
      Distillation distillation,
      double policy,
      double supervised) {
    return new LossSettings(objective, .2, .28, correction, beta, KlEstimator.K2, 1)
        .with(Baseline.LEAVE_ONE_OUT)
        .with(mask)
        .with(place)
        .with(new LossSettings.Shares(policy, distillation, supervised));
  }

  @Test
  void describe_penaltyInTheRewardAndExamples_sayWhatTheReferenceIs() {
    LossSettings s =
        settings(
            new Grpo(),
            new None(),
            new SequenceMask.None(),
            .05,
            KlPlacement.REWARD,
            new Distillation.None(),
            1,
            .25);
    assertThat(LossFormula.describe(s, 8, 0, 50))
        .isEqualTo(
            """
            policy       p = softmax(logits / 1)                  the trainer's, of the sampled token; carries the gradient
            advantage    A = r - mean(r of the other 7)           r: the rewards of a group of 8
            reward       r = task reward - 0.05 sum_t K           K = d^2 / 2; d = log p_ref - log q, of every token
                                                                  the reference: the policy after the last multiple of 50 steps
            ratio        rho = p / q                              q: the sampler's probability of the token
            surrogate    S = min(rho A, clip(rho, 0.8, 1.28) A)
            token loss   l = -S
            loss         L = 1/N sum_i 1/n_i sum_t l              N: sequences of the step with a trained token
                                                                  n_i: trained tokens of sequence i
                           + 0.25 1/e sum -log p                  over the e tokens of the step's examples, at temperature 1
            trained      staleness <= 0                           an older token is in no sum and no count\
            """);
  }

  @Test
  void describe_teacherBesideThePolicyGradient_isAddedToIt() {
    LossSettings s =
        settings(
            new Dapo(),
            new Correction.IcePop(.5, 5),
            new SequenceMask.Geometric(.99, 1.01),
            .01,
            KlPlacement.LOSS,
            new Distillation.Jsd(.1, .9, 20),
            .5,
            0);
    assertThat(LossFormula.describe(s, 8, 2, 100))
        .isEqualTo(
            """
            policy       p = softmax(logits / 1)                                the trainer's, of the sampled token; carries the gradient
            advantage    A = r - mean(r of the other 7)                         r: the rewards of a group of 8
            ratio        rho = p / p'                                           p': p at the start of the step: 1 in value, never clipped
            weight       w = p' / q in [0.5, 5], else 0                         q: the sampler's probability of the token; no gradient
            surrogate    S = min(rho A, clip(rho, 0.8, 1.28) A)
            mask         m = 1 if exp(mean_t log x_t) in [0.99, 1.01], else 0   x_t = p' / q, p': p at the start of the step
            KL penalty   K = d^2 / 2                                            d = log p_ref - log p; p_ref: by the reference
                                                                                the reference: the policy after the last multiple of 100 steps
            distillation D = 0.9 KL(T || M) + 0.1 KL(P || M)                    T: the teacher's 20 likeliest, sum 1; P: the policy's of these
                         M = 0.9 T + 0.1 P
            token loss   l = -0.5 (m w S - 0.01 K) + 0.1 D
            loss         L = 1/n sum_i sum_t l                                  n: trained tokens of the step
            trained      staleness <= 2                                         an older token is in no sum and no count\
            """);
  }

  @Test
  void describe_unbiasedDeviationAndMaskedTruncation_areWrittenOut() {
    LossSettings s =
        GoldenBatch.settings(new Dapo(), .2, .28, new None(), 0)
            .with(Baseline.STANDARDISED_UNBIASED)
            .with(new Overlong(true, new OverlongPunishment(100, 0.5)));
    assertThat(LossFormula.describe(s, 8, 1, 0))
        .contains("r: the rewards of a group of 8; std divides by 7\n")
        .contains("r = r - 0.5 min(max(n - (L - 100), 0) / 100, 1)")
        .endsWith("nor is a completion that the token limit cut off; its reward counts");
  }

  @Test
  void describe_entropyBonus_isSubtractedFromTheTokenLoss() {
    LossSettings s =
        new LossSettings(new Dapo(), .2, .28, new None(), 0, KlEstimator.K3, 1).withEntropy(.01);
    assertThat(LossFormula.describe(s, 8, 1, 0))
        .contains("entropy      H = -sum_v p_v log p_v ")
        .contains("token loss   l = -S - 0.01 H\n");
  }

  @Test
  void describe_jsdAtItsEnds_isForwardOrReverseKl() {
    assertThat(describe(new Distillation.Jsd(.1, 0, 20)))
        .contains("\ndistillation D = KL(T || P) - 1 + sum P  ")
        .doesNotContain("M =");
    assertThat(describe(new Distillation.Jsd(.1, 1, 20)))
        .contains("\ndistillation D = KL(P || T) - sum P + 1  ")
        .doesNotContain("M =");
  }

  private static String describe(Distillation distillation) {
    return LossFormula.describe(
        settings(
            new Dapo(),
            new None(),
            new SequenceMask.None(),
            0,
            KlPlacement.LOSS,
            distillation,
            1,
            0),
        8,
        1,
        0);
  }

  @Test
  void describe_selfDistillationAlone_hasNoPolicyGradient() {
    LossSettings s =
        settings(
            new Dapo(),
            new None(),
            new SequenceMask.None(),
            0,
            KlPlacement.LOSS,
            new Distillation.ForwardKl(1, 32, true),
            0,
            0);
    assertThat(LossFormula.describe(s, 8, 1, 0))
        .isEqualTo(
            """
            policy       p = softmax(logits / 1)   the trainer's, of the sampled token; carries the gradient
            distillation D = KL(T || P)            T: the teacher's 32 likeliest, sum 1; P: the policy's of these
                                                   of completions with r < 1; the others are left out
            token loss   l = D
            loss         L = 1/n sum_i sum_t l     n: trained tokens of the step
            trained      staleness <= 1            an older token is in no sum and no count\
            """);
  }

  @Test
  void describe_sequenceAndWeightObjectives_haveTheirOwnRatio() {
    LossSettings gspo =
        settings(
            new Objective.Gspo(),
            new None(),
            new SequenceMask.Outlier(1e-4, 100),
            0,
            KlPlacement.LOSS,
            new Distillation.None(),
            1,
            0);
    LossSettings cispo =
        settings(
            new Objective.Cispo(),
            new None(),
            new SequenceMask.None(),
            0,
            KlPlacement.LOSS,
            new Distillation.None(),
            1,
            0);
    LossSettings decoupled =
        settings(
            new Dapo(),
            new Correction.Decoupled(5, Correction.OverCap.MASKED),
            new SequenceMask.None(),
            0,
            KlPlacement.LOSS,
            new Distillation.None(),
            1,
            0);
    assertThat(LossFormula.describe(gspo, 8, 1, 0))
        .contains("\nratio        rho = exp(1/n_i sum_t log(p / q))  ")
        .contains("\nmask         m = 1 if all x_t in [0.0001, 100], else 0 ")
        .contains("\ntoken loss   l = -m S\n");
    assertThat(LossFormula.describe(cispo, 8, 1, 0))
        .contains("\nratio        rho = p' / q ")
        .contains("\nsurrogate    S = clip(rho, 0.8, 1.28) A log p\n");
    assertThat(LossFormula.describe(decoupled, 8, 1, 0))
        .contains("\nproximal     log p_x = log q + (s-1)/s log(p' / q) ")
        .contains("\nratio        rho = p / p_x\n")
        .contains("\nweight       w = p_x / q up to 5, else 0 ");
  }
}
