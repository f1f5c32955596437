package io.troupe.base.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testkit.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ChildProcessesTest {
  @TempDir private Path folder;

  @Test
  void start_childThatPrintsMoreThanALogTakes_endsByItselfAndItsLogIsBounded() throws Exception {
    ChildSpec child =
        new ChildSpec(
            "flood",
            List.of(
                "sh",
                "-c",
                "head -c %d /dev/zero; echo; echo \"$LAST\" >&2; exit 7"
                    .formatted(ChildLog.MOST_BYTES + 1)),
            Map.of("LAST", "last words"),
            folder,
            folder.resolve("flood.log"));
    try (ChildProcesses children = new ChildProcesses()) {
      assertThat(Await.value(children.start(child)).code()).isEqualTo(7);
    }
    long bytes = 0;
    for (String name : List.of("flood.log", "flood.log.1", "flood.log.2", "flood.log.3")) {
      bytes += Files.size(folder.resolve(name));
    }
    assertThat(bytes).isLessThanOrEqualTo(ChildLog.MOST_BYTES);
    assertThat(Files.readString(folder.resolve("flood.log"))).endsWith("\nlast words\n");
    assertThat(folder.toFile().list()).hasSize(4);
  }
}
