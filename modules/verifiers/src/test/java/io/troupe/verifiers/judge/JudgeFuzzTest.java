package io.troupe.verifiers.judge;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.testkit.Fuzz;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A judge's reply is text of a model: anything. */
class JudgeFuzzTest {
  @Test
  void score_anyReply_liesInItsRangeOrIsNone() {
    new Fuzz(
            "judge",
            List.of(
                "<think>hm</think>The answer is right.\nScore: 0.75",
                "{\"score\": 1, \"reason\": \"so\"}",
                "Score: 3/10, or 7 out of 10",
                "**Score:** 100%"),
            List.of("Score", ":", "1", ".", "e9", "-", "/", "%", "</think>", "NaN", "\n", "9999"))
        .run(
            20_000,
            (text, _) -> {
              ScoreParser.in(text)
                  .ifPresent(score -> assertThat(score).as("%s", score).isBetween(0.0, 1.0));
              Prompt prompt = new Prompt(new PromptId("p"), "s", text, "{completion}", "");
              assertThat(Rubric.CORRECTNESS.fill(prompt, text)).isNotEmpty();
            });
  }
}
