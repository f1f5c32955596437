package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.RunJournal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Forks of runs of DJL engines: the same twice, read as any run, and the parent without a change.
 */
final class ForkCommandTest {
  private static final String CONFIG =
      ReplayCommandTest.CONFIG
          .replace("context_length: 100", "context_length: 60")
          .replace("workers: 3", "workers: 2")
          .replace("max_tokens: 80", "max_tokens: 50")
          .replace("max_concurrent_groups: 24", "max_concurrent_groups: 12")
          .replace("groups_per_request: 8", "groups_per_request: 4")
          .replace("steps: 12", "steps: 10")
          .replace("max_staleness: 3", "max_staleness: 2")
          .replace("every: 3", "every: 4")
          .replace("recording:\n  tokens: 0\n", "");

  @TempDir private Path folder;

  private JsonNode fork(String name, String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("-o", at(name)));
    arguments.addAll(List.of(more));
    return CommandOutput.ofReplay(folder, 0, arguments.toArray(String[]::new));
  }

  private String refused(String... more) throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of("replay", TestRuns.only(folder).path().toString(), "-o", at("refused")));
    arguments.addAll(List.of(more));
    String said = CommandOutput.ending(2, arguments.toArray(String[]::new)).err();
    assertThat(Path.of(at("refused"))).doesNotExist();
    return said;
  }

  /** Outside of the folder of the parent, which is the only run there. */
  private String at(String name) {
    return folder.resolve("forks").resolve(name).toString();
  }

  private String journal(String name) throws IOException {
    StringBuilder records = new StringBuilder();
    try (RunJournal journal = RunJournal.open(RunFolder.view(folder, at(name)).journal())) {
      journal.forEachNext(entry -> records.append(entry).append('\n'));
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

    CommandOutput.ending(0, "audit", at("one"));
    JsonNode again = CommandOutput.ending(0, "replay", at("one"), "--json").json();
    assertThat(again.path("steps").asInt()).isEqualTo(10);
    JsonNode row =
        CommandOutput.by("explain", at("one"), "--step", "9", "--row", "5", "--json").json();
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
    CommandOutput.ending(0, "audit", at("longer"));
  }
}
