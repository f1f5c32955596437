package io.troupe.run.task;

import io.troupe.core.prompt.OpenThought;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.EpisodeText.TurnText;
import io.troupe.core.reward.Verdict;
import io.troupe.core.reward.Verdict.Cause;
import io.troupe.verifiers.pool.TimedVerdict;
import io.troupe.verifiers.pool.VerifierService;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * One verification by a verifier of the user's own before anything is trained, so that a program
 * that cannot judge ends the start, in place of every group that is sampled.
 *
 * @param what the verifier, as a sentence begins with it
 * @param service that asks it
 * @param timeout of one verification
 */
record VerifierTrial(String what, VerifierService service, Duration timeout) {
  /** The part of its time that a verification may take without being mentioned. */
  private static final double QUICK = 0.5;

  /**
   * Judges a prompt's solution, or the empty completion if it has none.
   *
   * @return a sentence about what is worth knowing of a verifier that judges; empty if nothing is
   * @throws InvalidVerifierException if it does not judge; says why and what to do
   */
  Optional<String> judge(Prompt prompt) throws InvalidVerifierException {
    String completion = prompt.solution();
    TurnText turn = new TurnText("main", "", completion, List.of(), 0);
    boolean open = OpenThought.endsInside(prompt.text());
    EpisodeText episode = new EpisodeText(completion, List.of(turn), "completed", open);
    TimedVerdict judged = service.judge(prompt, episode).toCompletableFuture().join();
    String tried =
        "%s was tried with the prompt %s and %s"
            .formatted(
                what,
                prompt.id().value(),
                completion.isBlank() ? "an empty completion" : "its solution");
    return switch (judged.verdict()) {
      case Verdict.Unverifiable(Cause cause, String reason) when cause == Cause.BAD_INPUT ->
          Optional.of("%s, which it cannot judge: %s".formatted(tried, reason));
      case Verdict.Unverifiable(Cause _, String reason) ->
          throw new InvalidVerifierException(
              "%s, and gave no reward: %s; %s, and try it alone by `troupe verify`"
                  .formatted(
                      tried,
                      reason,
                      judged.millis() < timeout.toMillis()
                          ? "correct it"
                          : "make it faster, or raise verifier.timeout (%s)"
                              .formatted(seconds((double) timeout.toMillis()))));
      case Verdict.Scored _ when judged.millis() > QUICK * timeout.toMillis() ->
          Optional.of(
              "%s, and took %s of the %s that verifier.timeout allows"
                  .formatted(
                      tried, seconds(judged.millis()), seconds((double) timeout.toMillis())));
      case Verdict.Scored _ -> Optional.empty();
    };
  }

  private static String seconds(double millis) {
    return "%.1f s".formatted(millis / 1000);
  }
}
