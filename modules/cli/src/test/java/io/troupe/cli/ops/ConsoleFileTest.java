package io.troupe.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.files.AtomicFile;
import io.troupe.console.AccessTokens;
import io.troupe.console.ConsoleServer;
import io.troupe.console.ConsoleSettings;
import io.troupe.run.console.ConsoleFile;
import io.troupe.testkit.Meanwhile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file by which commands find a run's console. */
final class ConsoleFileTest {
  @TempDir private Path folder;

  @Test
  void read_fileOfAnEarlierProcessWithTheSamePid_isNoConsole() throws Exception {
    ConsoleSettings settings =
        new ConsoleSettings("127.0.0.1", 0, false, true, AccessTokens.random(), Optional.empty());
    SyntheticRun run = new SyntheticRun(folder, 10, false);
    try (ConsoleServer server = ConsoleServer.start(settings, run)) {
      ConsoleFile.write(folder, server, settings);
      assertThat(ConsoleFile.read(folder))
          .hasValueSatisfying(found -> assertThat(found.url()).isEqualTo(server.address()));
    }
    Path file = folder.resolve("console.json");
    String text = Files.readString(file);
    Files.writeString(file, text.replaceFirst("\"started\":\\d", "\"started\":"));
    assertThat(ConsoleFile.read(folder)).isEmpty();
  }

  @Test
  void read_whileTheFileComesAndGoes_isNoConsole() throws Exception {
    Path file = folder.resolve("console.json");
    Meanwhile.look(
        () -> {
          for (int i = 0; i < 2_000; i++) {
            AtomicFile.replace(file, "{}");
            Files.delete(file);
          }
          return null;
        },
        () -> assertThat(ConsoleFile.read(folder)).isEmpty());
  }
}
