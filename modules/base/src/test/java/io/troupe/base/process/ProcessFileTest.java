package io.troupe.base.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ProcessFileTest {
  private final Path folder;
  private final Path file;

  ProcessFileTest(@TempDir Path folder) {
    this.folder = folder;
    this.file = folder.resolve("processes");
  }

  @Test
  void read_whatWasWritten_isTheSame() throws IOException {
    ProcessFile.Entry own = ProcessFile.Entry.of(ProcessHandle.current(), "OWNER").orElseThrow();
    ProcessFile.Entry other =
        new ProcessFile.Entry(new ProcessIdentity(7, Instant.ofEpochMilli(1_234)), "LEADER");
    ProcessFile.write(file, List.of(other, own));
    assertThat(Files.readString(file)).startsWith("7 1234 LEADER\n");
    assertThat(ProcessFile.read(file)).containsExactly(other, own);
    assertThat(own.process().runs()).isTrue();
    assertThat(own.process().find()).contains(ProcessHandle.current());
  }

  @Test
  void find_otherProcessWithThePid_isNobody() {
    long pid = ProcessHandle.current().pid();
    assertThat(new ProcessIdentity(pid, Instant.EPOCH).find()).isEmpty();
    assertThat(new ProcessIdentity(pid, Instant.EPOCH).runs()).isFalse();
  }

  @Test
  void read_absent_isEmpty() throws IOException {
    assertThat(ProcessFile.read(file)).isEmpty();
  }

  @Test
  void read_somethingElse_saysWhichLine() throws IOException {
    for (String damaged : List.of("7 1234", "x 1 LEADER", "7 y LEADER", "[]", "")) {
      Files.writeString(file, damaged + "\n");
      assertThatThrownBy(() -> ProcessFile.read(file))
          .isInstanceOf(ProcessFile.MalformedException.class)
          .hasMessage("%s is no list of processes: '%s'".formatted(file, damaged));
    }
  }

  @ParameterizedTest
  @CsvSource({"Z, 1, false", "Z, 2, true", "S, 1, true", "R, 3, true"})
  void runs_zombie_onlyUntilItsOtherThreadsHaveEndedToo(String state, int threads, boolean runs)
      throws IOException {
    Files.writeString(folder.resolve("stat"), "12 (a) b) %s 1 12 12 0".formatted(state));
    for (int thread = 0; thread < threads; thread++) {
      Files.createDirectories(folder.resolve("task").resolve(Integer.toString(12 + thread)));
    }
    assertThat(ProcessIdentity.runs(folder)).isEqualTo(runs);
  }
}
