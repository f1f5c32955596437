package io.troupe.net.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class UserKeysTest {
  private static final int NOBODY = 65534;

  @TempDir private Path state;

  @Test
  void in_severalAtOnceAndALeftover_makeThemOnceAndForTheirUserOnly() throws Exception {
    Path own = Files.createDirectories(state.resolve("troupe"), mode("rwx------"));
    Files.writeString(
        Files.createDirectory(own.resolve("keys.new")).resolve("half"), "of a killed process");
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      List<Future<HostKeys>> asked =
          Stream.generate(() -> threads.submit(() -> UserKeys.in(state))).limit(2).toList();
      HostKeys first = asked.getFirst().get();
      assertThat(asked.getLast().get()).isEqualTo(first);
      byte[] key = Files.readAllBytes(first.folder().resolve(HostKeys.KEYS));

      assertThat(UserKeys.in(state)).isEqualTo(first);
      assertThat(first.folder().resolve(HostKeys.KEYS)).hasBinaryContent(key);
    }
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(own)))
        .isEqualTo("rwx------");
    assertThat(own.resolve("keys.new")).doesNotExist();
  }

  @Test
  void in_folderThatOthersCanOpen_isRefused() throws IOException {
    Files.createDirectory(state.resolve("troupe"), mode("rwxr-xr-x"));
    assertThatThrownBy(() -> UserKeys.in(state))
        .hasMessageContaining("is open to other users (rwxr-xr-x)", "XDG_STATE_HOME");
  }

  @Test
  void in_link_isRefused() throws IOException {
    Path elsewhere = Files.createDirectory(state.resolve("elsewhere"), mode("rwx------"));
    Files.createSymbolicLink(state.resolve("troupe"), elsewhere);
    assertThatThrownBy(() -> UserKeys.in(state)).hasMessageContaining("is a link and no folder");
  }

  @Test
  void in_folderOfAnotherUser_isRefused() throws IOException {
    Path own = Files.createDirectory(state.resolve("troupe"), mode("rwx------"));
    boolean root = ((Number) Files.getAttribute(own, "unix:uid")).longValue() == 0;
    if (root) { // Only root can give a folder away.
      Files.setAttribute(own, "unix:uid", NOBODY);
      assertThatThrownBy(() -> UserKeys.in(state)).hasMessageContaining("belongs to ");
    }
  }

  @Test
  void state_environmentOrHome_isWhereProgramsKeepWhatTheyNeed() throws IOException {
    assertThat(UserKeys.state("/state", "/home/a")).isEqualTo(Path.of("/state"));
    assertThat(UserKeys.state("", "/home/a")).isEqualTo(Path.of("/home/a/.local/state"));
    assertThat(UserKeys.state("relative", "/home/a")).isEqualTo(Path.of("/home/a/.local/state"));
    assertThatThrownBy(() -> UserKeys.state("", "?")).hasMessageContaining("set XDG_STATE_HOME");
  }

  private static FileAttribute<?> mode(String mode) {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode));
  }
}
