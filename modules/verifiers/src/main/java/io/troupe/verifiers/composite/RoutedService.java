package io.troupe.verifiers.composite;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.PassMark;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.pool.TimedVerdict;
import io.troupe.verifiers.pool.VerifierService;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Sends each prompt to the verifier of its source, for a run that mixes data sets, and says of each
 * verdict by which mark it passes.
 */
public final class RoutedService implements CompositeService {
  private final Map<String, VerifierService> bySource;
  private final PassMark mark;

  /**
   * A service over other services, which it closes.
   *
   * @param bySource the verifier of every source; several sources may share one
   * @param mark by which a completion passes
   */
  public RoutedService(Map<String, VerifierService> bySource, PassMark mark) {
    this.bySource = Map.copyOf(bySource);
    this.mark = mark;
  }

  @Override
  public CompletionStage<TimedVerdict> judge(Prompt prompt, EpisodeText episode) {
    VerifierService service = bySource.get(prompt.source());
    if (service == null) {
      return CompletableFuture.completedFuture(
          new TimedVerdict(
              new Verdict.Unverifiable(
                  Verdict.Cause.BAD_INPUT,
                  "prompt %s comes from '%s', which has no verifier"
                      .formatted(prompt.id(), prompt.source())),
              0));
    }
    return service
        .judge(prompt, episode)
        .thenApply(judged -> new TimedVerdict(judged.verdict().by(mark), judged.millis()));
  }

  @Override
  public List<VerifierService> services() {
    return bySource.values().stream().distinct().toList();
  }
}
