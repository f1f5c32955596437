package io.troupe.runtime.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SamplingSettings;
import io.troupe.runtime.episode.EpisodeSettings;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The token limits of the completions of a prompt. */
final class CompletionLimitsTest {
  private static final SamplingSettings GENERAL = new SamplingSettings(1, 100);

  private static Prompt prompt(String id, String source, String text) {
    return new Prompt(new PromptId(id), source, text, "", "");
  }

  @Test
  void of_sourcesAndRows_isTheLowestThatApplies() {
    CharacterTokenizer letters = new CharacterTokenizer("abcd");
    PromptPool pool =
        new PromptPool(
            List.of(
                prompt("1", "short", "a"),
                prompt("2", "long", "b"),
                prompt("3", "short", "c"),
                prompt("4", "long", "d")),
            letters,
            1);
    SourceSampling sampling =
        new SourceSampling(
            GENERAL,
            Map.of("short", GENERAL.within(50, List.of())),
            Map.of(new PromptId("3"), 60, new PromptId("4"), 7),
            new EpisodeSettings.SingleTurn());

    CompletionLimits limits = new CompletionLimits(pool, sampling);

    assertThat(List.of("a", "b", "c", "d"))
        .extracting(text -> limits.of(letters.encode(text)))
        .containsExactly(50, 100, 50, 7);
    assertThat(sampling.of(pool.prompt(3)).maxTokens()).isEqualTo(7);
    assertThat(new CompletionLimits(pool, SourceSampling.of(GENERAL)).of(letters.encode("a")))
        .isEqualTo(100);
  }
}
