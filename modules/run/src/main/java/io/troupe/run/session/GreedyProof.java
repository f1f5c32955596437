package io.troupe.run.session;

import io.troupe.base.failure.Causes;
import io.troupe.core.completion.Completion;
import io.troupe.core.run.Event;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.TokenListener;
import io.troupe.engine.Tokenizer;
import io.troupe.runtime.AdHocSampling;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A line that shows that the weights of a checkpoint are those its name promises: what the policy
 * says, greedily, after a text that any language model continues. It is sampled once, when the
 * first lease shows that weights were published.
 */
final class GreedyProof {
  /** The prompt of the line, one for all runs, so that their lines can be compared. */
  static final String TEXT = "The capital of France is";

  private static final int TOKENS = 12;
  private static final int MOST_CHARACTERS = 120;

  private final AdHocSampling sampling;
  private final Tokenizer tokenizer;
  private final Consumer<String> say;
  private final AtomicBoolean asked = new AtomicBoolean();

  /**
   * Creates a proof that is not asked for yet.
   *
   * @param sampling of the newest weights
   * @param say takes the line
   */
  GreedyProof(AdHocSampling sampling, Tokenizer tokenizer, Consumer<String> say) {
    this.sampling = sampling;
    this.tokenizer = tokenizer;
    this.say = say;
  }

  /** An event of the run; the first lease asks for the line. */
  void happened(Event event) {
    if (event instanceof Event.LeaseGranted && asked.compareAndSet(false, true)) {
      int[] prompt = tokenizer.encodeWithSpecial(tokenizer.withTextStart(TEXT));
      switch (sampling.begin(prompt, SamplingSettings.greedy(TOKENS), 0, TokenListener.NONE)) {
        case AdHocSampling.Sampling begun -> {
          var _ = begun.end().whenComplete(this::ended);
        }
        case AdHocSampling.Busy _, AdHocSampling.NoWeights _ -> asked.set(false);
      }
    }
  }

  private void ended(@Nullable Completion completion, @Nullable Throwable failure) {
    if (completion != null) {
      String text = tokenizer.decode(completion.tokens()).replaceAll("\\s+", " ");
      say.accept(
          "greedy v%d: %s|%s"
              .formatted(
                  completion.versions().newest().number(),
                  TEXT,
                  text.substring(0, Math.min(MOST_CHARACTERS, text.length()))));
    } else if (failure != null) {
      say.accept("greedy: no line, because " + Causes.of(failure).getMessage());
    }
  }
}
