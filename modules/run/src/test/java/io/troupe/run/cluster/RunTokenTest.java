package io.troupe.run.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.net.secret.RunSecret;
import io.troupe.store.folder.RunFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDateTime;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files by which the processes of a run know each other. */
final class RunTokenTest {
  @TempDir private Path folder;
  private RunFolder run;

  @BeforeEach
  void makeRun() throws Exception {
    run =
        RunFolder.create(
            folder,
            "run",
            LocalDateTime.of(2026, 1, 1, 0, 0),
            new RunFolder.Contents(new byte[0], "", Map.of(), ""));
  }

  @Test
  void secret_again_isTheSame() throws Exception {
    String first = RunToken.secret(run);
    assertThat(RunToken.secret(run)).isEqualTo(first);
    assertThat(RunSecret.of(first).hex()).isEqualTo(first);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "0a", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"})
  void secret_ofAStartThatWasInterrupted_isWrittenAgainForItsOwnerAlone(String left)
      throws Exception {
    Path file = Files.createDirectories(run.path().resolve("cluster")).resolve("secret");
    Files.writeString(file, left);
    String secret = RunToken.secret(run);
    assertThat(RunSecret.of(secret).hex()).isEqualTo(secret);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
  }

  @Test
  void token_ofAStartThatWasInterrupted_isWrittenAgain() throws Exception {
    Files.writeString(Files.createDirectories(run.path().resolve("cluster")).resolve("token"), "");
    String token = RunToken.of(run);
    assertThat(token).hasSize(36);
    RunToken.check(token, run.path());
  }
}
