package io.troupe.verifiers.composite;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.EpisodeText;
import io.troupe.verifiers.pool.TimedVerdict;
import io.troupe.verifiers.pool.VerifierService;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Judges all turns of an episode as one text, in place of its last answer: {@link
 * EpisodeText#trace}.
 *
 * @param service closed with this one
 */
public record TraceService(VerifierService service) implements CompositeService {
  @Override
  public CompletionStage<TimedVerdict> judge(Prompt prompt, EpisodeText episode) {
    return service.judge(prompt, episode.trace());
  }

  @Override
  public List<VerifierService> services() {
    return List.of(service);
  }
}
