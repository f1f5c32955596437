package io.troupe.run.session;

import static io.troupe.core.Require.require;

import io.troupe.base.failure.Causes;
import io.troupe.core.completion.Completion;
import io.troupe.core.run.Event;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.TokenListener;
import io.troupe.runtime.AdHocSampling;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A line that shows that the weights of a checkpoint are those its name promises: what the policy
 * says, greedily, to the first prompt of its task. It is sampled once, when the first lease shows
 * that weights were published. It is only shown: where it cannot be had, it says why, and the run
 * continues.
 */
final class GreedyProof {
  private static final int TOKENS = 12;
  private static final int MOST_CHARACTERS = 120;

  private final AdHocSampling sampling;
  private final PolicyEngines engines;
  private final String prompt;
  private final Consumer<String> say;
  private final AtomicBoolean asked = new AtomicBoolean();

  /**
   * Creates a proof that is not asked for yet.
   *
   * @param sampling of the newest weights
   * @param prompt as the policy reads it
   * @param say takes the line
   */
  GreedyProof(AdHocSampling sampling, PolicyEngines engines, String prompt, Consumer<String> say) {
    this.sampling = sampling;
    this.engines = engines;
    this.prompt = prompt;
    this.say = say;
  }

  /** An event of the run; the first lease asks for the line. */
  void happened(Event event) {
    if (event instanceof Event.LeaseGranted && asked.compareAndSet(false, true)) {
      try {
        ask(engines.tokenizer().encodeWithSpecial(prompt));
      } catch (IllegalArgumentException | IllegalStateException refused) {
        noLine(refused);
      }
    }
  }

  private void ask(int[] tokens) {
    int room = Math.min(TOKENS, engines.contextLength() - tokens.length);
    require(
        tokens.length > 0 && room > 0,
        "the first prompt has %d tokens of a context of %d",
        tokens.length,
        engines.contextLength());
    switch (sampling.begin(tokens, SamplingSettings.greedy(room), 0, TokenListener.NONE)) {
      case AdHocSampling.Sampling begun -> {
        var _ = begun.end().whenComplete(this::ended);
      }
      case AdHocSampling.Busy _, AdHocSampling.NoWeights _ -> asked.set(false);
    }
  }

  private void ended(@Nullable Completion completion, @Nullable Throwable failure) {
    if (completion != null) {
      String text = line(engines.tokenizer().decode(completion.tokens()));
      String question = line(prompt);
      say.accept(
          "greedy v%d: %s%s|%s"
              .formatted(
                  completion.versions().newest().number(),
                  question.length() > MOST_CHARACTERS ? "…" : "",
                  question.substring(Math.max(0, question.length() - MOST_CHARACTERS)),
                  text.substring(0, Math.min(MOST_CHARACTERS, text.length()))));
    } else if (failure != null) {
      noLine(Causes.of(failure));
    }
  }

  private static String line(String text) {
    return text.replaceAll("\\s+", " ");
  }

  private void noLine(Throwable why) {
    say.accept("greedy: no line, because " + why.getMessage());
  }
}
