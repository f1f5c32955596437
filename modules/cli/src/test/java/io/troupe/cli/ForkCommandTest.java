package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.RunJournal;
import io.troupe.store.state.RunJson;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Forks of runs of DJL engines: the same twice, read as any run, and the parent without a change.
 */
final class ForkCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String CONFIG =
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
        context_length: 60
        init_std: 0.2
      rollout:
        workers: 2
        completions_per_prompt: 4
        max_tokens: 50
        max_concurrent_groups: 12
        groups_per_request: 4
      training:
        steps: 10
        groups_per_step: 3
        max_staleness: 2
        filter_degenerate: false
        learning_rate: 1e-3
      supervised:
        batch: 4
        coefficient: 0.05
      evaluation:
        every: 0
      checkpoint:
        every: 4
      """;

  @TempDir private Path folder;

  private JsonNode fork(String name, String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("replay", parent(), "--json", "-o", at(name)));
    arguments.addAll(List.of(more));
    CommandOutput output = CommandOutput.by(arguments.toArray(String[]::new));
    assertThat(output.code()).as(output.out() + output.err()).isZero();
    return JSON.readTree(output.out());
  }

  private String refused(String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("replay", parent(), "-o", at("refused")));
    arguments.addAll(List.of(more));
    CommandOutput output = CommandOutput.by(arguments.toArray(String[]::new));
    assertThat(output.code()).as(output.out()).isEqualTo(2);
    assertThat(Path.of(at("refused"))).doesNotExist();
    return output.err();
  }

  private String parent() throws IOException {
    return TestRuns.only(folder).path().toString();
  }

  /** Outside of the folder of the parent, which is the only run there. */
  private String at(String name) {
    return folder.resolve("forks").resolve(name).toString();
  }

  private String journal(String name) throws IOException {
    StringBuilder records = new StringBuilder();
    try (RunJournal journal = RunJournal.open(RunFolder.view(folder, at(name)).journal())) {
      Optional<RunJson.Entry> next = journal.next();
      while (next.isPresent()) {
        records.append(next.get()).append('\n');
        next = journal.next();
      }
    }
    return records.toString();
  }

  @Test
  void replay_withAChangedKey_makesTheSameForkTwiceThatPartsWhereItChanges() throws Exception {
    CommandOutput.ofTraining(folder, CONFIG);

    JsonNode made = fork("one", "--from", "4", "--set", "training.learning_rate=5e-3");
    assertThat(made.path("steps").asInt()).isEqualTo(6);
    assertThat(made.path("sound").asBoolean()).isTrue();
    JsonNode compared = made.path("comparison");
    assertThat(compared.path("common_steps").asInt()).isEqualTo(4);
    assertThat(compared.path("parting").path("step").asInt()).isEqualTo(5);
    assertThat(compared.path("keys").toString())
        .isEqualTo("[\"- training.learning_rate: 0.001\",\"+ training.learning_rate: 0.005\"]");
    assertThat(compared.path("forks").toString())
        .contains("behind step 4 with training.learning_rate=5e-3");

    fork("two", "--from", "4", "--set", "training.learning_rate=5e-3");
    assertThat(journal("two")).isEqualTo(journal("one"));

    assertThat(CommandOutput.by("audit", at("one")).code()).isZero();
    CommandOutput again = CommandOutput.by("replay", at("one"), "--json");
    assertThat(again.code()).as(again.out() + again.err()).isZero();
    assertThat(JSON.readTree(again.out()).path("steps").asInt()).isEqualTo(10);
    JsonNode row =
        JSON.readTree(
            CommandOutput.by("explain", at("one"), "--step", "9", "--row", "5", "--json").out());
    assertThat(row.path("worker").asText()).startsWith("sim-");
    assertThat(row.path("text").isTextual()).isTrue();
    assertThat(CommandOutput.by("explain", at("one"), "--step", "3", "--row", "5", "--json").out())
        .contains("\"text\":", "\"worker\":\"rollout-");

    assertThat(refused("--from", "4", "--set", "policy.hidden=32"))
        .contains("cannot change policy.hidden");
    assertThat(refused("--from", "4", "--set", "task.max=30")).contains("cannot change task.max");
    assertThat(refused("--from", "4", "--set", "loss.kl_coefficient=0.1"))
        .contains("the run kept none");
    assertThat(refused("--from", "11", "--set", "training.learning_rate=1")).contains("no step 11");
    assertThat(refused("--from", "10", "--set", "training.learning_rate=1")).contains("--to");
  }

  @Test
  void replay_ofALockStepRunWithItsOwnValue_isTheRun() throws Exception {
    CommandOutput.ofTraining(folder, CONFIG.replace("max_staleness: 2", "max_staleness: 0"));

    JsonNode made = fork("same", "--from", "5", "--set", "training.learning_rate=1e-3");
    assertThat(made.path("comparison").path("equal").asBoolean()).as(made.toString()).isTrue();
    assertThat(made.path("comparison").path("common_steps").asInt()).isEqualTo(10);

    JsonNode longer = fork("longer", "--from", "5", "--to", "7", "--set", "rollout.max_tokens=45");
    assertThat(longer.path("steps").asInt()).isEqualTo(2);
    assertThat(CommandOutput.by("audit", at("longer")).code()).isZero();
  }
}
