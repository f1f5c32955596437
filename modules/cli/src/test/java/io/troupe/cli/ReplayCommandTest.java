package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.base.files.FileTree;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.run.Event;
import io.troupe.core.weights.WeightVersion;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.journal.RunJournal;
import io.troupe.store.state.RunJson;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An asynchronous run of DJL engines that is killed and resumed is made again bit for bit; what is
 * changed in its journal afterwards is found where it was changed.
 */
final class ReplayCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Long completions of three workers, so that weights change within them. */
  static final String CONFIG =
      """
      run:
        seed: 5
      task:
        name: arithmetic
        min: 0
        max: 20
        held_out_share: 0.2
      policy:
        engine: djl
        hidden: 16
        layers: 1
        heads: 2
        kv_heads: 1
        head_dim: 8
        feed_forward: 32
        context_length: 100
        init_std: 0.2
      rollout:
        workers: 3
        completions_per_prompt: 4
        max_tokens: 80
        max_concurrent_groups: 24
        groups_per_request: 8
      training:
        steps: 12
        groups_per_step: 3
        max_staleness: 3
        filter_degenerate: false
        learning_rate: 1e-3
      supervised:
        batch: 4
        coefficient: 0.05
      evaluation:
        every: 0
      checkpoint:
        every: 3
      recording:
        tokens: 0
      """;

  @TempDir private Path folder;

  private JsonNode replay(int code, String... more) throws IOException {
    return CommandOutput.ofReplay(folder, code, more);
  }

  private RunFolder killedAndResumed() throws Exception {
    String config = TestRuns.write(folder, CONFIG);
    try (ChildRun child = ChildRun.train(folder, ChildRun.Size.DJL, config)) {
      child.awaitOut(5);
      child.kill();
    }
    RunFolder run = TestRuns.only(folder);
    CommandOutput.ofResume(folder, 14);
    return run;
  }

  /** Writes the journal again, with some events changed. */
  private static void change(RunFolder run, UnaryOperator<Event> change) throws IOException {
    List<byte[]> records = new ArrayList<>();
    try (RunJournal journal = RunJournal.open(run.journal())) {
      journal.forEachNext(
          entry ->
              records.add(
                  RunJson.encode(
                      new RunJson.Entry(
                          entry.atMillis(), entry.events().stream().map(change).toList()))));
    }
    FileTree.delete(run.journal());
    try (Journal journal = Journal.open(run.journal(), JournalSettings.defaults())) {
      journal.append(records);
    }
  }

  private static List<Event> events(RunFolder run) throws IOException {
    List<Event> events = new ArrayList<>();
    try (RunJournal journal = RunJournal.open(run.journal())) {
      journal.forEachNext(entry -> events.addAll(entry.events()));
    }
    return events;
  }

  @Test
  void replay_killedAndResumedRun_isEqualBitForBitAndChangesAreFound() throws Exception {
    RunFolder run = killedAndResumed();

    JsonNode all = replay(0);
    assertThat(all.path("equal").asBoolean()).isTrue();
    assertThat(all.path("steps").asInt()).isEqualTo(14);
    assertThat(all.path("groups").asInt()).isGreaterThanOrEqualTo(14 * 3);
    assertThat(events(run))
        .as("weights changed within completions")
        .anyMatch(
            event ->
                event instanceof Event.GroupBuffered(GroupSummary summary)
                    && summary.versions().stream().anyMatch(own -> own.spans().size() > 1));

    JsonNode training = replay(0, "--training", "--from", "13");
    assertThat(training.path("training").asBoolean()).isTrue();
    assertThat(training.path("begin").asInt()).isEqualTo(12);
    assertThat(training.path("steps").asInt()).isEqualTo(2);
    assertThat(replay(0, "--training").path("steps").asInt()).isEqualTo(14);

    explainsAndCompares(run);

    Event.StepStarted tenth =
        events(run).stream()
            .filter(event -> event instanceof Event.StepStarted(long step, var _) && step == 10)
            .map(Event.StepStarted.class::cast)
            .toList()
            .getLast();
    GroupId group = tenth.groups().get(1);
    change(run, event -> withOtherDigest(event, group));
    JsonNode sampled = replay(1).path("difference");
    assertThat(sampled.path("step").asLong()).isEqualTo(10);
    assertThat(sampled.path("group").asLong()).isEqualTo(group.number());
    assertThat(sampled.path("completion").asInt()).isEqualTo(2);

    change(run, event -> withOtherDigest(event, group)); // as it was
    change(run, event -> withOtherReward(event, group));
    JsonNode trained = replay(1).path("difference");
    assertThat(trained.path("step").asLong()).isEqualTo(10);
    assertThat(trained.path("what").asText()).startsWith("the weights behind it have digest");
    assertThat(replay(0, "--to", "9").path("steps").asInt()).isEqualTo(9);
  }

  private static void explainsAndCompares(RunFolder run) throws IOException {
    String name = run.path().toString();
    CommandOutput all = CommandOutput.ending(0, "explain", name, "--step", "9", "--json");
    List<String> rows = all.out().lines().toList();
    assertThat(rows).hasSize(3 * 4);
    double advantages = 0;
    double weights = 0;
    for (String line : rows) {
      JsonNode row = JSON.readTree(line);
      advantages += row.path("advantage").asDouble();
      weights += row.path("tokens_with_loss_weight").asInt() * row.path("loss_weight").asDouble();
      // A kill may take the trace of a group that a checkpoint has.
      assertThat(row.path("text").isTextual() || row.path("texts").isTextual()).as(line).isTrue();
      assertThat(row.path("worker").asText()).startsWith("rollout-");
      assertThat(row.path("staleness_max").asInt()).isNotNegative(); // more than 3 has no weight
    }
    assertThat(advantages).as("advantages of groups add up to 0").isCloseTo(0, within(1e-6));
    assertThat(weights).as("the loss is a mean over tokens").isCloseTo(1, within(1e-5));
    assertThat(CommandOutput.by("explain", name, "--step", "9", "--row", "12").err())
        .contains("--row is from 0 to 11");
    assertThat(CommandOutput.by("explain", name, "--step", "99").err()).contains("no step 99");

    JsonNode life =
        CommandOutput.ending(0, "explain", name, "--step", "9", "--row", "5", "--tokens", "--json")
            .json();
    assertThat(life.path("token_lives")).hasSize(life.path("tokens").asInt());
    int weighted = 0;
    for (JsonNode each : life.path("token_lives")) {
      double q = each.path("sampler_log_prob").asDouble();
      assertThat(q).isNegative();
      if (each.path("loss_weight").asDouble() != 0) {
        weighted++;
        double p = each.path("trainer_log_prob").asDouble();
        assertThat(each.path("ratio").asDouble()).isCloseTo(Math.exp(p - q), within(1e-6));
        if (each.path("staleness").asInt() == 0) {
          assertThat(p).as("the same weights sample and train").isCloseTo(q, within(1e-4));
        }
      }
    }
    assertThat(weighted).isEqualTo(life.path("tokens_with_loss_weight").asInt());
    CommandOutput text = CommandOutput.by("explain", name, "--step", "9", "--row", "5", "--tokens");
    assertThat(text.out().lines().toList().getLast())
        .startsWith("%5d ".formatted(life.path("tokens").asInt() - 1));
    assertThat(CommandOutput.by("explain", name, "--step", "9", "--tokens").err())
        .contains("name it by --row");

    JsonNode same = CommandOutput.ending(0, "compare", name, name, "--json").json();
    assertThat(same.path("common_steps").asInt()).isEqualTo(14);
  }

  /** Flips a bit of the third completion's digest, so that it stays one of letters and digits. */
  private static Event withOtherDigest(Event event, GroupId group) {
    if (!(event instanceof Event.GroupDigested(var lease, List<String> digests))
        || !lease.group().equals(group)) {
      return event;
    }
    List<String> changed = new ArrayList<>(digests);
    char first = changed.get(2).charAt(0);
    char other = (char) (first ^ (Character.isLetter(first) ? 32 : 1));
    changed.set(2, other + changed.get(2).substring(1));
    return new Event.GroupDigested(lease, changed);
  }

  private static Event withOtherReward(Event event, GroupId group) {
    if (!(event instanceof Event.GroupBuffered(GroupSummary summary))
        || !summary.lease().group().equals(group)) {
      return event;
    }
    List<Double> rewards = new ArrayList<>(summary.rewards());
    rewards.set(0, 1 - rewards.getFirst());
    return new Event.GroupBuffered(
        new GroupSummary(summary.lease(), rewards, summary.versions(), summary.episodes()));
  }

  @Test
  void replay_toyEngine_isRefusedWithTheReason() throws Exception {
    CommandOutput.ofTraining(folder, TestRuns.TOY, "--set", "training.steps=2");

    String run = TestRuns.only(folder).path().toString();

    assertThat(CommandOutput.ending(2, "replay", run).err()).contains("policy.engine: toy");
    change(
        TestRuns.only(folder),
        event ->
            event instanceof Event.ProcessStarted
                ? new Event.WeightsMade(WeightVersion.BASE, "")
                : event);
    assertThat(CommandOutput.by("replay", run).err()).contains("without replay");
  }
}
