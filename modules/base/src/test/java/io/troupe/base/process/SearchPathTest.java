package io.troupe.base.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SearchPathTest {
  @TempDir private Path root;

  private Path file(String name, String permissions) throws IOException {
    Path file = root.resolve(name);
    Files.writeString(file, "#!/bin/sh\n");
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }

  @Test
  void find_severalFolders_returnsTheFirstExecutableFile() throws IOException {
    Files.createDirectories(root.resolve("folder/tool"));
    Files.createDirectory(root.resolve("data"));
    Files.createDirectory(root.resolve("programs"));
    Path _ = file("data/tool", "rw-------");
    Path program = file("programs/tool", "rwx------");
    Map<String, String> environment =
        Map.of("PATH", "%s/folder::%s/data:%s/programs".formatted(root, root, root));

    assertThat(SearchPath.find("tool", environment)).contains(program);
    assertThat(SearchPath.find("other", environment)).isEmpty();
    assertThat(SearchPath.find("tool", Map.of())).isEmpty();
    assertThat(SearchPath.find(program.toString(), Map.of())).contains(program);
    assertThat(SearchPath.find(root.resolve("data/tool").toString(), environment)).isEmpty();
  }
}
