package io.troupe.gym.data;

import io.troupe.config.rollout.VerifierSection;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.run.task.VerifierPools;
import io.troupe.verifiers.VerifierSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The verifiers of a task's sources, opened when the first response is judged, so that a report
 * starts none. Not safe for use by several threads.
 */
public final class GymJudges implements AutoCloseable {
  private final VerifierSection section;
  private final Map<String, VerifierSpec> bySource;
  private Optional<VerifierPools> pools = Optional.empty();

  /**
   * Verifiers.
   *
   * @throws InvalidVerifierException if there is none of a name
   */
  public GymJudges(VerifierSection section, Map<String, VerifierSpec> bySource)
      throws InvalidVerifierException {
    this.section = section;
    this.bySource = new LinkedHashMap<>(bySource);
    VerifierPools.check(section, bySource);
  }

  /** Returns the name of the verifier of a source. */
  String verifier(String source) {
    VerifierSpec spec = bySource.get(source);
    return spec == null ? "" : spec.name();
  }

  Verdict verdict(Prompt prompt, String response) {
    if (pools.isEmpty()) {
      try {
        pools = Optional.of(VerifierPools.open(section, bySource, true));
      } catch (IOException absent) {
        throw new UncheckedIOException(absent);
      } catch (InvalidVerifierException wrong) {
        throw new UncheckedIOException(new IOException(wrong.getMessage(), wrong));
      }
    }
    return pools
        .get()
        .evaluation()
        .verify(prompt, EpisodeText.answering(prompt, response))
        .toCompletableFuture()
        .join();
  }

  @Override
  public void close() {
    pools.ifPresent(VerifierPools::close);
    pools = Optional.empty();
  }
}
