package io.troupe.core.prompt;

import static io.troupe.core.Require.require;
import static io.troupe.core.SplitMix64.mix;

import java.util.Map;
import java.util.Optional;

/**
 * The rule by which the next prompt is chosen.
 *
 * @param listed whether a pass over the pool has the order of the pool, as a curriculum wants, and
 *     not a new one
 * @param byDifficulty whether a pass leaves out prompts that promise a degenerate group
 * @param exploration by difficulty, the share of the passes in which such a prompt is admitted all
 *     the same
 */
public record PromptSampling(boolean listed, boolean byDifficulty, double exploration) {
  /*
   * By difficulty, a pass goes through the whole pool in its order, and passes over a prompt that
   * was measured and is not promising, but in a share `exploration` of the passes, by a hash of
   * seed, epoch and prompt: Zheng et al. 2025, "Act only when it pays" (GRESO), with a posterior in
   * place of the count of degenerate groups in a row. A prompt that was never measured is admitted.
   * So a prompt is admitted at most once an epoch, under either rule, and every prompt is admitted
   * again after 1 / exploration epochs on average, however easy or hard it was.
   *
   * The last place of a pass is always admitted. So a choice never crosses the end of an epoch, and
   * a run that is limited in epochs ends with an admission.
   */

  /** Every prompt once an epoch, in an order of the epoch. */
  public static final PromptSampling UNIFORM = new PromptSampling(false, false, 1);

  public PromptSampling {
    require(exploration > 0 && exploration <= 1, "exploration lies in (0, 1], not %s", exploration);
  }

  /**
   * An admission.
   *
   * @param prompt index of the prompt
   * @param next cursor after it
   */
  public record Choice(int prompt, PromptCursor next) {}

  /**
   * The next admission from a pool of {@code prompts}.
   *
   * @param completions of a group, at most
   * @param rates measured rates, by prompt
   */
  public Choice next(
      long seed, int prompts, int completions, PromptCursor from, Map<Integer, PassRate> rates) {
    PromptCursor place = from;
    int prompt = at(seed, prompts, place);
    if (!byDifficulty) {
      return new Choice(prompt, place.advance(prompts));
    }
    while (place.position() + 1 < prompts
        && !rates.getOrDefault(prompt, PassRate.UNKNOWN).promising(completions)
        && !explores(seed, place.epoch(), prompt)) {
      place = place.advance(prompts);
      prompt = at(seed, prompts, place);
    }
    return new Choice(prompt, place.advance(prompts).choose());
  }

  /** The prompt at a place of the passes. */
  public int at(long seed, int prompts, PromptCursor place) {
    return listed
        ? place.position()
        : PromptOrder.at(seed, place.epoch(), place.position(), prompts);
  }

  private boolean explores(long seed, long epoch, int prompt) {
    return (mix(mix(mix(seed) ^ epoch) + prompt) >>> 11) * 0x1p-53 < exploration;
  }

  /** Returns the reason why a run at this place cannot continue under this rule. */
  public Optional<String> objectionTo(PromptCursor at) {
    boolean begun = at.epoch() > 0 || at.position() > 0;
    return begun && at.byDifficulty() != byDifficulty
        ? Optional.of(
            "task.sampling is %s and the run began with %s, and prompts are counted by one rule in"
                    .formatted(name(byDifficulty), name(at.byDifficulty()))
                + " a run; leave task.sampling as it was, or begin a new run from the checkpoint")
        : Optional.empty();
  }

  private static String name(boolean difficulty) {
    return difficulty ? "difficulty" : "uniform";
  }

  /** This rule for a pool whose own order is kept. */
  public PromptSampling inListedOrder() {
    return new PromptSampling(true, byDifficulty, exploration);
  }
}
