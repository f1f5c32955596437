package io.troupe.verifiers.composite;

import static io.troupe.core.Require.require;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.pool.TimedVerdict;
import io.troupe.verifiers.pool.VerifierService;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A weighted sum of rewards: each verifier's reward times its weight; the weights add up to 1. If
 * one verifier cannot judge a completion, the whole is unverifiable, because a partial reward would
 * be wrong.
 */
public final class WeightedService implements CompositeService {
  private static final double TOLERANCE = 1e-9;

  /**
   * One of the verifiers.
   *
   * @param name name of the verifier in the verdict's checks
   * @param weight in (0, 1]
   */
  public record Part(String name, double weight, VerifierService service) {}

  private final List<Part> parts;

  /** A service over other services, which it closes. */
  public WeightedService(List<Part> parts) {
    double sum = parts.stream().mapToDouble(Part::weight).sum();
    require(
        Math.abs(sum - 1) <= TOLERANCE && parts.stream().allMatch(part -> part.weight() > 0),
        "the weights of a mixed reward are positive and add up to 1, not to %s",
        sum);
    this.parts = List.copyOf(parts);
  }

  @Override
  public CompletionStage<TimedVerdict> judge(Prompt prompt, EpisodeText episode) {
    List<CompletableFuture<TimedVerdict>> stages =
        parts.stream()
            .map(part -> part.service().judge(prompt, episode).toCompletableFuture())
            .toList();
    return CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new))
        .thenApply(
            _ -> {
              List<TimedVerdict> judged = stages.stream().map(CompletableFuture::join).toList();
              return new TimedVerdict(
                  combine(judged.stream().map(TimedVerdict::verdict).toList()),
                  judged.stream().mapToDouble(TimedVerdict::millis).sum());
            });
  }

  private Verdict combine(List<Verdict> verdicts) {
    double reward = 0;
    String extracted = "";
    List<String> reasons = new ArrayList<>();
    List<Check> checks = new ArrayList<>();
    for (int i = 0; i < parts.size(); i++) {
      Part part = parts.get(i);
      switch (verdicts.get(i)) {
        case Verdict.Scored scored -> {
          reward += part.weight() * scored.reward();
          extracted = extracted.isEmpty() ? scored.extracted() : extracted;
          reasons.add(
              String.format(
                  Locale.ROOT,
                  "%s %.3g × %.3g (%s)",
                  part.name(),
                  part.weight(),
                  scored.reward(),
                  scored.reason()));
          checks.add(new Check(part.name(), scored.passed()));
        }
        case Verdict.Unverifiable(Verdict.Cause cause, String reason) -> {
          return new Verdict.Unverifiable(cause, part.name() + ": " + reason);
        }
      }
    }
    boolean all = verdicts.stream().allMatch(WeightedService::isOne);
    // Weights such as 0.7 and 0.3 add up to a little less than 1 in binary.
    return new Verdict.Scored(all ? 1 : reward, extracted, String.join("; ", reasons), checks);
  }

  private static boolean isOne(Verdict verdict) {
    return verdict instanceof Verdict.Scored scored && scored.reward() == 1;
  }

  @Override
  public List<VerifierService> services() {
    return parts.stream().map(Part::service).distinct().toList();
  }
}
