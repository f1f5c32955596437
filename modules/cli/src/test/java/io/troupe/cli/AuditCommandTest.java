package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.run.Event;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.state.RunJson;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code troupe audit} on the folder of a real run, whole and tampered with. */
final class AuditCommandTest {
  @TempDir private Path folder;

  @Test
  void audit_finishedRun_accountsForEveryPromptAndIsSound() throws Exception {
    RunFolder run = finished();

    CommandOutput table = audit(run.path().toString());
    assertThat(table.code()).as(table.out()).isZero();
    assertThat(table.out())
        .contains("steps   8, and 0 made again after a resume", "bound 1", "no violation")
        .containsPattern("trained  +24 +0 +24");

    CommandOutput json = audit(run.path().toString(), "--json");
    JsonNode page = new ObjectMapper().readTree(json.out());
    JsonNode stands = page.path("stands");
    assertThat(page.path("sound").asBoolean()).isTrue();
    assertThat(page.path("state").asText()).isEqualTo("ended");
    assertThat(stands.path("admitted").asLong())
        .isEqualTo(
            24
                + stands.path("filtered").asLong()
                + stands.path("failed").asLong()
                + page.path("pending").path("waiting").asLong()
                + page.path("pending").path("buffered").asLong());
    assertThat(page.path("tokens").path("weighted").asLong()).isPositive();
  }

  @Test
  void audit_journalWithAGroupTooMany_namesItAndExits1() throws Exception {
    RunFolder run = finished();
    try (Journal journal = Journal.open(run.journal(), JournalSettings.defaults())) {
      journal.append(
          List.of(
              RunJson.encode(
                  new RunJson.Entry(
                      1, List.of(new Event.GroupFailed(new GroupId(1), "made up"))))));
    }

    CommandOutput answer = audit(run.path().toString());

    assertThat(answer.code()).isEqualTo(1);
    assertThat(answer.out()).contains("BROKEN", "S2 exactly once: g1 fails, and it has ended");
  }

  @Test
  void audit_noSuchRun_exits2AndSaysWhichThereAre() {
    CommandOutput answer = audit(folder.resolve("nothing").toString());

    assertThat(answer.code()).isEqualTo(2);
    assertThat(answer.err()).startsWith("error: there is no run folder");
  }

  private RunFolder finished() throws Exception {
    CommandOutput.ofTraining(folder, TestRuns.TOY, "--json");
    return TestRuns.only(folder);
  }

  private static CommandOutput audit(String... arguments) {
    return CommandOutput.by(
        Stream.concat(Stream.of("audit"), Arrays.stream(arguments)).toArray(String[]::new));
  }
}
