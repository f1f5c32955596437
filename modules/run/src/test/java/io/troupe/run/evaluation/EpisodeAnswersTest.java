package io.troupe.run.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.toy.ScriptedEngine;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.EnvironmentProvider;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import io.troupe.environments.format.InlineFormat;
import io.troupe.evaluation.Answer;
import io.troupe.evaluation.EngineAnswers;
import io.troupe.evaluation.EvaluationItem;
import io.troupe.evaluation.EvaluationTask;
import io.troupe.evaluation.Question;
import io.troupe.runtime.episode.EpisodeSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EpisodeAnswersTest {
  private static final CharacterTokenizer TOKENIZER =
      new CharacterTokenizer("[]acelr 0123456789*=;");
  private static final EvaluationItem ITEM =
      new EvaluationItem(
          new Prompt(new PromptId("p"), "s", "2*3=", "6", ""),
          Map.of(),
          SamplingSettings.greedy(16));

  /** Calls the tool first, and answers what the tool has said. */
  private static ScriptedEngine caller() {
    return new ScriptedEngine(TOKENIZER, context -> context.endsWith(";") ? "6" : "[calc 2*3]");
  }

  /** A calculator whose first calls fail. */
  private record Failing(int failures, AtomicInteger calls) implements EnvironmentProvider {
    @Override
    public String name() {
      return "test";
    }

    @Override
    public List<ToolSchema> tools() {
      return List.of(new ToolSchema("calc", "Calculates.", "{}"));
    }

    @Override
    public EnvironmentPool open() {
      return () ->
          new Environment() {
            @Override
            public void reset(Prompt prompt, long seed) {
              // Nothing is kept.
            }

            @Override
            public ToolResult step(ToolCall call) {
              if (calls.incrementAndGet() <= failures) {
                throw new EnvironmentFailedException("the server is gone");
              }
              return ToolResult.of("6");
            }

            @Override
            public void close() {
              // Nothing is held.
            }
          };
    }
  }

  private static EpisodeSettings.ToolLoop loop(int failures) {
    return new EpisodeSettings.ToolLoop(
        new Failing(failures, new AtomicInteger()),
        new InlineFormat(),
        4,
        4,
        Duration.ofSeconds(20),
        false);
  }

  /** A policy that belongs to no run is given tools for one task of a file. */
  @Test
  void forTask_tasksWithAndWithoutTools_areAnsweredEachInItsWay() throws Exception {
    ScriptedEngine engine = caller();
    EvaluationTask plain = new EvaluationTask("plain", List.of(ITEM), 1, Map.of());
    EvaluationTask tools = new EvaluationTask("tools", List.of(ITEM), 1, Map.of());
    try (TaskAnswers source = new TaskAnswers(engine, TOKENIZER, 64)) {
      source.add(new EpisodeSettings.SingleTurn());
      source.add(tools, loop(0));
      List<Question> asked = List.of(new Question(ITEM, 1, 7));
      assertThat(source.forTask(plain).answer(asked).getFirst().toCompletableFuture().join())
          .containsExactly(new Answer("[calc 2*3]", 10, Answer.STOP));
      assertThat(source.forTask(tools).answer(asked).getFirst().toCompletableFuture().join())
          .extracting(Answer::text)
          .containsExactly("6");
    }
    assertThat(engine.isClosed()).isTrue();
  }

  private static List<Answer> answered(int failures, int samples) {
    ScriptedEngine engine = caller();
    EpisodeSettings.ToolLoop loop = loop(failures);
    EpisodeAnswers episodes = new EpisodeAnswers(engine, TOKENIZER, 64, loop);
    try (EngineAnswers source = new EngineAnswers(episodes, TOKENIZER)) {
      return source
          .answer(List.of(new Question(ITEM, samples, 7)))
          .getFirst()
          .toCompletableFuture()
          .join();
    } finally {
      assertThat(engine.isClosed()).isFalse();
    }
  }

  @Test
  void answer_policyThatCallsATool_isItsLastAnswerWithItsTurns() {
    List<Answer> answers = answered(0, 40);
    assertThat(answers).hasSize(40);
    assertThat(answers)
        .containsOnly(
            new Answer(
                "6",
                11,
                Answer.STOP,
                new Answer.AnsweredEpisode(
                    "completed",
                    List.of(
                        new Answer.AnswerTurn(
                            "main",
                            "",
                            "[calc 2*3]",
                            10,
                            List.of(new Answer.ToolUse("calc", "ran", 0, 1)),
                            0),
                        new Answer.AnswerTurn("main", "6;", "6", 1, List.of(), 0)),
                    "",
                    false)));
  }

  @Test
  void answer_environmentThatFails_isAskedAgainAFewTimes() {
    assertThat(answered(2, 1)).hasSize(1);
    assertThatThrownBy(() -> answered(3, 1))
        .isInstanceOf(CompletionException.class)
        .hasMessageContaining("the server is gone");
  }
}
