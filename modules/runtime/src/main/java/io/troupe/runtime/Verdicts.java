package io.troupe.runtime;

import io.troupe.core.reward.Verdict;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What a group's verdicts amount to. */
final class Verdicts {
  private Verdicts() {}

  /** All verdicts, in order, once the last is there. */
  static CompletionStage<List<Verdict>> of(List<CompletionStage<Verdict>> verdicts) {
    List<CompletableFuture<Verdict>> stages =
        verdicts.stream().map(CompletionStage::toCompletableFuture).toList();
    return CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new))
        .thenApply(_ -> stages.stream().map(CompletableFuture::join).toList());
  }

  /** The rewards of those that were judged, in order. */
  static List<Double> rewards(List<Verdict> verdicts) {
    return verdicts.stream()
        .filter(Verdict.Scored.class::isInstance)
        .map(verdict -> ((Verdict.Scored) verdict).reward())
        .toList();
  }

  /** Why the first of those that were not judged was not. */
  static String firstObstacle(List<Verdict> verdicts) {
    return verdicts.stream()
        .filter(Verdict.Unverifiable.class::isInstance)
        .map(verdict -> ((Verdict.Unverifiable) verdict).reason())
        .findFirst()
        .orElse("nothing");
  }
}
