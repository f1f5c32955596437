package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.checkpoint.StepTokenFiles;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Training made again from stored tokens: of a run that cannot be sampled again, killed and resumed
 * in between; what is changed in the tokens afterwards is found where it was changed.
 */
final class TrainingReplayTest {
  private static final int CHANGED = 8;

  @TempDir private Path folder;

  private JsonNode replay(int code, String... more) throws IOException {
    return CommandOutput.ofReplay(folder, code, more);
  }

  /** Stores a step's groups with another second completion of the second group. */
  private static List<ScoredGroup> change(RunFolder run, UnaryOperator<ScoredGroup> change)
      throws IOException {
    List<ScoredGroup> was = StepTokenFiles.read(run.tokens(), CHANGED);
    List<ScoredGroup> groups = new ArrayList<>(was);
    groups.set(1, change.apply(groups.get(1)));
    write(run, groups);
    return was;
  }

  private static void write(RunFolder run, List<ScoredGroup> groups) throws IOException {
    StepTokenFiles.open(run.tokens(), 0, _ -> {}).write(CHANGED, groups);
  }

  private static ScoredGroup withOtherToken(ScoredGroup group) {
    List<Completion> completions = new ArrayList<>(group.completions());
    Completion second = completions.get(1);
    int[] tokens = second.tokens().clone();
    tokens[0] = tokens[0] == 5 ? 6 : 5;
    completions.set(
        1, new Completion(tokens, second.logProbs(), second.versions(), second.finishReason()));
    return ScoredGroup.ofCompletions(group.lease(), group.prompt(), completions, group.rewards());
  }

  private static ScoredGroup withOtherLogProb(ScoredGroup group) {
    List<Completion> completions = new ArrayList<>(group.completions());
    Completion second = completions.get(1);
    float[] logProbs = second.logProbs().clone();
    logProbs[0] = Math.nextDown(logProbs[0]);
    completions.set(
        1, new Completion(second.tokens(), logProbs, second.versions(), second.finishReason()));
    return ScoredGroup.ofCompletions(group.lease(), group.prompt(), completions, group.rewards());
  }

  private static ScoredGroup withOtherReward(ScoredGroup group) {
    List<Double> rewards = new ArrayList<>(group.rewards());
    rewards.set(1, 1 - rewards.get(1));
    return new ScoredGroup(group.lease(), group.prompt(), group.episodes(), rewards);
  }

  private static ScoredGroup withOtherPrompt(ScoredGroup group) {
    int[] prompt = group.prompt().clone();
    prompt[0] = prompt[0] == 5 ? 6 : 5;
    return ScoredGroup.ofCompletions(group.lease(), prompt, group.completions(), group.rewards());
  }

  @Test
  void replay_toyRunThatWasKilledAndResumed_trainsBitForBitAndFindsWhatWasChanged()
      throws Exception {
    String config = TestRuns.write(folder, TestRuns.TOY);
    List<String> options = List.of("--set", "recording.tokens=0", "--set", "checkpoint.every=4");
    try (ChildRun child =
        ChildRun.start(
            folder,
            ChildRun.Size.TOY,
            "train",
            config,
            "--json",
            options.get(0),
            options.get(1),
            options.get(2),
            options.get(3))) {
      child.awaitOut(6);
      child.kill();
    }
    CommandOutput.ofResume(folder, 12);
    RunFolder run = TestRuns.only(folder);

    JsonNode all = replay(0);
    assertThat(all.path("training").asBoolean()).isTrue();
    assertThat(all.path("equal").asBoolean()).isTrue();
    assertThat(all.path("steps").asInt()).isEqualTo(12);
    assertThat(all.path("tokens").asInt()).isPositive();
    JsonNode late = replay(0, "--from", "11");
    assertThat(late.path("begin").asInt()).isEqualTo(8);
    assertThat(late.path("steps").asInt()).isEqualTo(4);
    String name = run.path().toString();
    JsonNode life =
        CommandOutput.ending(0, "explain", name, "--step", "9", "--row", "1", "--tokens", "--json")
            .json();
    JsonNode first = life.path("token_lives").path(0);
    assertThat(first.path("sampler_log_prob").asDouble()).isNegative();

    List<ScoredGroup> was = change(run, TrainingReplayTest::withOtherToken);
    JsonNode token = replay(1).path("difference");
    long group = was.get(1).lease().group().number();
    assertThat(token.path("step").asLong()).isEqualTo(CHANGED);
    assertThat(token.path("group").asLong()).isEqualTo(group);
    assertThat(token.path("completion").asInt()).isEqualTo(1);
    assertThat(token.path("token").asInt(-1)).isZero();
    assertThat(replay(0, "--to", "7").path("steps").asInt()).isEqualTo(7);

    write(run, was);
    change(run, TrainingReplayTest::withOtherLogProb);
    JsonNode logProb = replay(1).path("difference");
    assertThat(logProb.path("completion").asInt()).isEqualTo(1);
    assertThat(logProb.path("what").asText()).contains("tokens or log-probabilities");

    write(run, was);
    change(run, TrainingReplayTest::withOtherReward);
    assertThat(replay(1).path("difference").path("what").asText()).contains("its reward is stored");

    write(run, was);
    change(run, TrainingReplayTest::withOtherPrompt);
    assertThat(replay(1).path("difference").path("what").asText()).contains("its prompt is stored");

    write(run, List.of(was.get(1), was.get(0)));
    JsonNode order = replay(1).path("difference");
    assertThat(order.path("what").asText()).startsWith("at place 0 of its batch is ");
    assertThat(order.path("group").asLong()).isEqualTo(was.getFirst().lease().group().number());

    write(run, was);
    assertThat(replay(0).path("steps").asInt()).isEqualTo(12);
    Files.delete(StepTokenFiles.file(run.tokens(), CHANGED));
    assertThat(CommandOutput.ending(2, "replay", name).err())
        .contains("none of step 8", "checkpoint");
  }

  @Test
  void replay_trainingOfARunWithoutTokens_isRefusedBeforeItStarts() throws Exception {
    CommandOutput.ofTraining(folder, TestRuns.TOY, "--set", "training.steps=2");
    String run = TestRuns.only(folder).path().toString();

    assertThat(CommandOutput.ending(2, "replay", run, "--training").err())
        .contains("none of steps 1, 2", "recording.tokens: 0");
    assertThat(CommandOutput.by("replay", run).err())
        .contains("policy.engine: toy", "recording.tokens: 0");
    assertThat(CommandOutput.by("replay", run, "--training", "--set", "training.steps=9").err())
        .contains("leave --training out");
    assertThat(Arrays.asList(TestRuns.only(folder).path().toFile().list()))
        .doesNotContain("tokens");
  }
}
