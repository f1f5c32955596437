package io.troupe.run.fork;

import io.troupe.config.RunConfig;
import io.troupe.run.replay.ReplayRefusedException;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The keys that a fork may change: keys that act only on the part behind its step. */
final class ForkRules {
  private static final Set<String> SECTIONS = Set.of("training", "loss", "supervised");

  private static final Set<String> OF_ROLLOUT =
      Set.of(
          "workers",
          "temperature",
          "max_tokens",
          "max_concurrent_groups",
          "groups_per_request",
          "lease_timeout",
          "max_attempts",
          "outage_timeout",
          "top_p",
          "top_k",
          "min_p",
          "repetition_penalty",
          "stop",
          "stop_token_ids");

  private static final Map<String, String> REASONS =
      Map.of(
          "policy",
          "the weights and the optimizer's state of the step have the shape, and the engine the"
              + " settings, that the run began with",
          "warmup",
          "the warm-up came before the first step",
          "task",
          "the prompts up to the step were taken from this data set in this order, and the next one"
              + " follows them",
          "data",
          "the prompts up to the step were taken from this data",
          "run",
          "the prompts up to the step were ordered, and the weights made, by it",
          "verifier",
          "groups that wait to be trained on were judged by it",
          "distillation",
          "the teacher belongs to the engine that the run began with",
          "evaluation",
          "a fork measures nothing on held-out prompts",
          "placement",
          "the times of what follows are fitted from the run's own parts");

  private ForkRules() {}

  /**
   * Refuses keys that cannot change.
   *
   * @param set as {@code KEY=VALUE}
   */
  static void check(List<String> set) throws ReplayRefusedException {
    for (String one : set) {
      int equals = one.indexOf('=');
      if (equals < 1) {
        throw new ReplayRefusedException("--set takes KEY=VALUE, not '%s'".formatted(one));
      }
      String key = one.substring(0, equals);
      String section = key.replaceFirst("[.\\[].*", "");
      boolean changes =
          SECTIONS.contains(section)
              || (section.equals("rollout")
                  && OF_ROLLOUT.contains(key.substring(key.indexOf('.') + 1)));
      if (!changes) {
        throw new ReplayRefusedException(
            "a fork cannot change %s: %s; it can change training, loss, supervised and, of rollout, %s"
                .formatted(
                    key,
                    section.equals("rollout")
                        ? "engines and groups that the step begins with were made with it"
                        : REASONS.getOrDefault(section, "it changes nothing that a fork computes"),
                    String.join(", ", OF_ROLLOUT.stream().sorted().toList())));
      }
    }
  }

  /** Refuses groups that grow, and a loss that needs what the run did not keep. */
  static void check(RunConfig before, RunConfig after) throws ReplayRefusedException {
    if (before.rollout().groupSize().grows()) {
      throw new ReplayRefusedException(
          "the run has rollout.adaptive, and a fork samples groups of one size; replay it without"
              + " --set");
    }
    if (after.lossSettings().readsReference(false)
        && !before.lossSettings().readsReference(false)) {
      throw new ReplayRefusedException(
          "the changed loss reads a reference policy, and the run kept none; begin a new run with"
              + " loss.kl_coefficient above 0, or fork one that had it");
    }
  }
}
