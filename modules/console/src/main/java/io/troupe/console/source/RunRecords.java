package io.troupe.console.source;

import io.troupe.telemetry.view.RunFold;
import java.nio.file.Path;

/**
 * The records of a run about itself.
 *
 * @param fold the run as its events report it
 * @param texts of its groups
 * @param trainedTokens the loss's treatment of the run's tokens
 */
public record RunRecords(RunFold fold, RolloutTexts texts, TrainedTokens trainedTokens) {
  /** The records of a run whose texts are in a folder. */
  public static RunRecords of(RunFold fold, Path traces) {
    return new RunRecords(
        fold,
        new RolloutTexts(traces.resolve("rollouts.jsonl")),
        new TrainedTokens(traces.resolve("trained.jsonl")));
  }
}
