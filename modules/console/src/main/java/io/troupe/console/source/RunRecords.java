package io.troupe.console.source;

import io.troupe.telemetry.view.RunFold;
import java.nio.file.Path;

/**
 * The records of a run about itself.
 *
 * @param fold what its events say
 * @param texts of its groups
 * @param trainedTokens what the loss made of their tokens
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
