package io.troupe.config.plan;

import io.troupe.config.policy.PolicySection;
import java.util.Optional;

/**
 * A word about a learning rate of AdamW at which a pretrained policy is seldom trained. AdamW's
 * steps move each weight by about the rate, whatever the gradient, so that a rate is great or small
 * by what weights are: some hundredths in a checkpoint, and 0 in half of an adapter's.
 *
 * @param full rates at which all weights are trained
 * @param adapters rates at which low-rank adapters are trained
 */
public record LearningRateNote(Range full, Range adapters) {
  /** Rates of rewards. */
  public static final LearningRateNote OF_REWARDS =
      new LearningRateNote(new Range(1e-8, 1e-4), new Range(1e-7, 2e-3));

  /** Rates of rows that are imitated. */
  public static final LearningRateNote OF_ROWS =
      new LearningRateNote(new Range(1e-7, 1e-3), new Range(1e-6, 1e-2));

  /** The usual rates, with both ends. */
  public record Range(double least, double greatest) {}

  /** Returns the note; none for usual rates, and for a policy that begins with random weights. */
  public Optional<String> of(String key, double rate, PolicySection policy) {
    if (!(policy instanceof PolicySection.Pretrained pretrained)) {
      return Optional.empty();
    }
    boolean adapted = pretrained.compute().lora().enabled();
    Range usual = adapted ? adapters : full;
    if (rate >= usual.least() && rate <= usual.greatest()) {
      return Optional.empty();
    }
    boolean great = rate > usual.greatest();
    return Optional.of(
        "%s (%s) is %s for %s of a pretrained policy: %s; usual rates are from %s to %s"
            .formatted(
                key,
                rate,
                great ? "very high" : "very low",
                adapted ? "adapters" : "all weights",
                great ? "a few steps may undo what it can" : "its weights hardly change",
                usual.least(),
                usual.greatest()));
  }
}
