package io.troupe.evaluation;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class AnswerTest {
  private static final Prompt PROMPT = new Prompt(new PromptId("p"), "s", "q\n<think>\n", "6", "");

  /** A tool's result that shows the mark of a thought, decoded without special tokens. */
  private static final String OBSERVED = "a note\n<think>\nof a page\nassistant\n";

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void judged_episode_opensAThoughtAsItsLastRequestDoes(boolean open) {
    Answer.AnswerTurn turn = new Answer.AnswerTurn("main", OBSERVED, "6", 1, List.of(), 0);
    Answer answer =
        new Answer(
            "6", 1, Answer.STOP, new Answer.AnsweredEpisode("completed", List.of(turn), "", open));
    assertThat(answer.judged(PROMPT).thoughtOpen()).isEqualTo(open);
    assertThat(new Answer("6", 1, Answer.STOP).judged(PROMPT).thoughtOpen()).isTrue();
  }
}
