package io.troupe.verifiers.composite;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.TurnRewards;
import io.troupe.verifiers.pool.TimedVerdict;
import io.troupe.verifiers.pool.VerifierService;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Rewards an episode by what its environment gave its turns; it has no verifier of its own. */
public final class TurnRewardService implements CompositeService {
  @Override
  public CompletionStage<TimedVerdict> judge(Prompt prompt, EpisodeText episode) {
    return CompletableFuture.completedFuture(new TimedVerdict(TurnRewards.of(episode), 0));
  }

  @Override
  public List<VerifierService> services() {
    return List.of();
  }
}
