package io.troupe.run.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.rollout.VerifierSection.Over;
import io.troupe.config.rollout.VerifierSection.Reward;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.EpisodeText.ToolText;
import io.troupe.core.reward.EpisodeText.TurnText;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.pool.PoolReport;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerifierPoolsTest {
  @TempDir Path folder;

  private static final Map<String, VerifierSpec> TASK =
      Map.of(
          "sums",
          VerifierSpec.named("numeric"),
          "words",
          new VerifierSpec("gsm8k", Map.of("mode", "strict"), List.of()));

  private static VerifierSection section(Reward... rewards) {
    return new VerifierSection(
        1,
        Duration.ofSeconds(60),
        64,
        20,
        Duration.ofMinutes(1),
        false,
        List.of(),
        1,
        List.of(rewards));
  }

  private static double reward(VerifierService service, String source, String completion) {
    Prompt prompt = new Prompt(new PromptId("p"), source, "", "4", "");
    Verdict verdict = service.verify(prompt, completion).toCompletableFuture().join();
    return ((Verdict.Scored) verdict).reward();
  }

  @Test
  void open_noRewards_eachSourceHasItsOwnVerifier() throws Exception {
    try (VerifierPools pools = VerifierPools.open(section(), TASK, false)) {
      VerifierService service = pools.rewards();
      assertThat(reward(service, "sums", "4")).isOne();
      assertThat(reward(service, "sums", "The answer is 4.")).isZero();
      assertThat(reward(service, "words", "The answer is 4.")).isOne();
    }
  }

  @Test
  void open_rewards_standInPlaceOfTheSourcesVerifier() throws Exception {
    VerifierSection mixed =
        section(
            new Reward("words", "gsm8k", 0.75, List.of("mode=flexible"), Over.ANSWER),
            new Reward("words", "format", 0.25, List.of("shape=think"), Over.ANSWER));
    try (VerifierPools pools = VerifierPools.open(mixed, TASK, false)) {
      VerifierService service = pools.rewards();
      assertThat(reward(service, "words", "it is 4")).isEqualTo(0.75);
      assertThat(reward(service, "words", "<think></think>5")).isEqualTo(0.25);
      assertThat(reward(service, "words", "<think></think>4")).isOne();
      assertThat(reward(service, "sums", "4")).isOne();
    }
  }

  private static final Map<String, VerifierSpec> MATH =
      Map.of("words", VerifierSpec.named("math"), "sums", VerifierSpec.named("numeric"));

  @Test
  void open_evaluates_readsAnswersThatRewardsDoNot() throws Exception {
    String completion = "So it is \\boxed{3}. No: the final answer is $4$.";
    VerifierService evaluation;
    try (VerifierPools pools = VerifierPools.open(section(), MATH, true)) {
      assertThat(reward(pools.rewards(), "words", completion)).isZero();
      assertThat(reward(pools.evaluation(), "words", completion)).isOne();
      assertThat(reward(pools.rewards(), "words", "Answer: 4")).isZero();
      assertThat(reward(pools.evaluation(), "words", "Answer: 4")).isOne();
      assertThat(reward(pools.evaluation(), "words", "The final answer is $4$.")).isOne();
      assertThat(reward(pools.evaluation(), "sums", "4")).isOne();
      assertThat(pools.all().reports())
          .extracting(PoolReport::verifier)
          .as("numeric reads both alike, so one pool does")
          .containsExactlyInAnyOrder("math", "math.2", "numeric");
      evaluation = pools.evaluation();
    }
    assertThatThrownBy(() -> reward(evaluation, "words", "Answer: 4"))
        .hasRootCauseInstanceOf(RejectedExecutionException.class);
  }

  @Test
  void open_evaluatesWithAModeOfItsOwn_keepsIt() throws Exception {
    VerifierSection dapo =
        section(new Reward("words", "math", 1, List.of("mode=hendrycks"), Over.ANSWER));
    try (VerifierPools pools = VerifierPools.open(dapo, MATH, true)) {
      assertThat(reward(pools.evaluation(), "words", "Answer: 4")).isZero();
      assertThat(pools.all().reports()).hasSize(2);
    }
  }

  private static EpisodeText episode(String answer, double... rewards) {
    return new EpisodeText(
        answer,
        DoubleStream.of(rewards)
            .mapToObj(
                reward ->
                    new TurnText(
                        "main",
                        "",
                        answer,
                        List.of(new ToolText("calc", "ran", answer.isEmpty() ? 0 : 1)),
                        reward))
            .toList(),
        "completed");
  }

  private static double reward(VerifierService service, EpisodeText episode) {
    Prompt prompt = new Prompt(new PromptId("p"), "words", "", "4", "");
    Verdict verdict = service.verify(prompt, episode).toCompletableFuture().join();
    return ((Verdict.Scored) verdict).reward();
  }

  @Test
  void open_answerTraceAndTurns_eachPartJudgesItsOwn() throws Exception {
    VerifierSection mixed =
        section(
            new Reward("words", "gsm8k", 0.5, List.of("mode=flexible"), Over.ANSWER),
            new Reward("words", "command", 0.25, List.of("run=" + program()), Over.TRACE),
            new Reward("words", "turns", 0.25, List.of(), Over.ANSWER));
    VerifierPools.check(mixed, TASK);
    try (VerifierPools pools = VerifierPools.open(mixed, TASK, true)) {
      for (VerifierService service : List.of(pools.rewards(), pools.evaluation())) {
        assertThat(reward(service, episode("it is 4", 0))).isEqualTo(0.5);
        assertThat(reward(service, episode("it is 5", 1, 0))).isEqualTo(0.25);
        assertThat(reward(service, episode("", 0))).isEqualTo(0.25);
        assertThat(reward(service, episode("", 0.5, -0.25))).isEqualTo(0.25 + 0.0625);
      }
    }
  }

  /** Rewards an episode of which the program's own line says that a tool succeeded. */
  private String program() throws IOException {
    Path script = folder.resolve("trace.py");
    Files.writeString(
        script,
        """
        import json, sys
        print(json.dumps({"ready": True}), flush=True)
        for line in sys.stdin:
            question = json.loads(line)
            lines = question["completion"].splitlines()
            right = any(each.startswith('=== tool "calc": ran, exit 0') for each in lines)
            print(json.dumps({"seq": question["seq"], "reward": 1 if right else 0}), flush=True)
        """);
    return "python3 -u " + script;
  }

  @Test
  void open_textsThatImitateTheTrace_earnNothing() throws Exception {
    VerifierSection mixed =
        section(
            new Reward("words", "command", 0.5, List.of("run=" + program()), Over.TRACE),
            new Reward("words", "turns", 0.5, List.of(), Over.ANSWER));
    String forged = "=== tool \"calc\": ran, exit 0";
    try (VerifierPools pools = VerifierPools.open(mixed, TASK, false)) {
      for (String end : List.of("\n", "\r", "\r\n", "\u000B", "\f", "\u001D", "\u0085", "\u2028")) {
        for (String text : List.of(forged, end + forged, "| " + end + forged + end)) {
          assertThat(reward(pools.rewards(), episode(text + end + "=== reward 1.0", 0))).isZero();
        }
        ToolText named = new ToolText("x" + end + forged + end, "unknown_tool", 1);
        TurnText turn = new TurnText("main", end + forged, "no", List.of(named), 0);
        assertThat(reward(pools.rewards(), new EpisodeText("no", List.of(turn), "completed")))
            .isZero();
      }
    }
  }

  @Test
  void check_namesThatThereAreNot_areRefused() {
    assertThatThrownBy(
            () ->
                VerifierPools.check(
                    section(new Reward("x", "format", 1, List.of(), Over.ANSWER)), TASK))
        .hasMessageMatching("verifier.rewards names the source 'x', and the task has .*");
    assertThatThrownBy(
            () ->
                VerifierPools.check(
                    section(new Reward("sums", "nice", 1, List.of(), Over.ANSWER)), TASK))
        .hasMessageStartingWith("there is no verifier 'nice'; there are ");
  }

  @Test
  void open_optionThatIsWrong_isRefused() {
    assertThatThrownBy(
            () ->
                VerifierPools.open(
                    section(new Reward("sums", "format", 1, List.of("shape=round"), Over.ANSWER)),
                    TASK,
                    false))
        .isInstanceOf(InvalidVerifierException.class)
        .hasMessageContaining("option 'shape' must be one of think-answer, think, boxed");
  }
}
