package io.troupe.runtime.rollout;

import io.troupe.core.reward.Verdict;
import io.troupe.telemetry.StepMeter;
import io.troupe.verifiers.pool.PoolReport;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The summary of the verdicts of a group, and of a run. */
public final class VerdictSummary {
  private VerdictSummary() {}

  /** Completes with all verdicts, in order, once the last is there. */
  public static CompletionStage<List<Verdict>> of(List<CompletionStage<Verdict>> verdicts) {
    List<CompletableFuture<Verdict>> stages =
        verdicts.stream().map(CompletionStage::toCompletableFuture).toList();
    return CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new))
        .thenApply(_ -> stages.stream().map(CompletableFuture::join).toList());
  }

  /** Returns the work of all pools so far; of their times those of the slowest. */
  public static StepMeter.Verification done(List<PoolReport> pools) {
    return new StepMeter.Verification(
        pools.stream().mapToDouble(PoolReport::millisP50).max().orElse(0),
        pools.stream().mapToDouble(PoolReport::millisP99).max().orElse(0),
        pools.stream().mapToLong(PoolReport::timeouts).sum(),
        pools.stream().mapToLong(PoolReport::crashes).sum(),
        pools.stream().mapToLong(PoolReport::waiting).sum());
  }

  /** The rewards of those that were judged, in order. */
  public static List<Double> rewards(List<Verdict> verdicts) {
    return verdicts.stream()
        .filter(Verdict.Scored.class::isInstance)
        .map(verdict -> ((Verdict.Scored) verdict).reward())
        .toList();
  }

  /** Whether no verifier was there to judge. */
  public static boolean away(Verdict verdict) {
    return verdict instanceof Verdict.Unverifiable(Verdict.Cause cause, String _)
        && cause == Verdict.Cause.AWAY;
  }

  /** Returns the reason why the first completion without a judgement has none. */
  public static String firstObstacle(List<Verdict> verdicts) {
    return verdicts.stream()
        .filter(Verdict.Unverifiable.class::isInstance)
        .map(verdict -> ((Verdict.Unverifiable) verdict).reason())
        .findFirst()
        .orElse("nothing");
  }
}
