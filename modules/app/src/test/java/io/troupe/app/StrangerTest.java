package io.troupe.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a process that has no keys of the cluster can do to the processes of a run. */
final class StrangerTest {
  @TempDir private Path folder;

  @Test
  void train_inOneProcess_listensOnItsConsoleAlone() throws Exception {
    try (ChildRun run =
        ChildRun.start(
            folder,
            ChildRun.Size.TOY,
            "train",
            TestRuns.write(folder, TestRuns.TOY),
            "--json",
            "--set",
            "training.steps=100000",
            "--set",
            "console.port=0")) {
      String said = run.awaitErr("console ");
      int console = URI.create(said.substring(said.indexOf("http"))).getPort();
      run.awaitOut(1);
      assertThat(OpenPorts.of(run.pid())).containsExactly(console);
    }
  }
}
