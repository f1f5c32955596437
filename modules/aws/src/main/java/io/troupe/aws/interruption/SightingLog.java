package io.troupe.aws.interruption;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The conclusions from the sightings so far. Pure.
 *
 * @param rebalance whether EC2's advice to move was passed on
 * @param unknownSince since when the metadata have not answered
 * @param saidUnknown whether that was said
 */
record SightingLog(boolean rebalance, Optional<Instant> unknownSince, boolean saidUnknown) {
  static final SightingLog NOTHING = new SightingLog(false, Optional.empty(), false);

  /** Silence of the metadata that is worth a sentence. */
  static final Duration PATIENCE = Duration.ofMinutes(1);

  /** The next state, and a sentence for the operator. */
  record Next(SightingLog log, Optional<String> sentence) {}

  Next after(Sighting sighting, Instant now) {
    return switch (sighting) {
      case Sighting.Unknown(String reason) -> unknown(reason, now);
      case Sighting.Undisturbed _, Sighting.Interruption _ -> answered(rebalance, Optional.empty());
      case Sighting.Rebalance _ ->
          answered(
              true,
              rebalance
                  ? Optional.empty()
                  : Optional.of(
                      "EC2 may take this spot instance back soon (rebalance recommendation);"
                          + " nothing is drained before its notice"));
    };
  }

  private Next unknown(String reason, Instant now) {
    Instant since = unknownSince.orElse(now);
    boolean due = !saidUnknown && Duration.between(since, now).compareTo(PATIENCE) >= 0;
    return new Next(
        new SightingLog(rebalance, Optional.of(since), saidUnknown || due),
        due
            ? Optional.of(
                "the instance metadata have not answered since %s (%s); a notice of EC2 would not be seen; containers need a hop limit of 2, --interruptions none ends this"
                    .formatted(since, reason))
            : Optional.empty());
  }

  private Next answered(boolean advised, Optional<String> sentence) {
    Optional<String> again =
        saidUnknown ? Optional.of("the instance metadata answer again") : Optional.empty();
    return new Next(
        new SightingLog(advised, Optional.empty(), false), sentence.isPresent() ? sentence : again);
  }
}
