package io.troupe.cli.copy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cli.CommandOutput;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RunsListCommandTest {
  @Test
  void list_runOfAnotherVersion_isNamedWithItsProblemBesideTheOthers(@TempDir Path runs)
      throws IOException {
    for (String name : List.of("sound", "older")) {
      RunFolder.create(
          runs,
          name,
          LocalDateTime.of(2026, 1, 2, 3, 4),
          new RunFolder.Contents("a: 1\n".getBytes(UTF_8), "a: 1\n", Map.of(), ""));
    }
    Path older = runs.resolve("older-20260102-030400/run.json");
    Files.writeString(
        older, Files.readString(older).replaceFirst("\"format\" *: *\\d+", "\"format\": 1000"));

    CommandOutput listed = CommandOutput.by("runs", "list", runs.toString());

    assertThat(listed.code()).isZero();
    assertThat(listed.out().lines())
        .hasSize(2)
        .anyMatch("sound-20260102-030400  no checkpoint"::equals)
        .anyMatch(line -> line.startsWith("older-20260102-030400  cannot be read: " + older));
  }
}
