package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short soak, as the quality gate runs it. */
final class SoakCommandTest {
  @TempDir private Path folder;

  @Test
  void soak_shortTime_endsWithASoundAccount() throws Exception {
    try (ChildRun child =
        ChildRun.start(
            folder,
            ChildRun.Size.TOY,
            "soak",
            "--minutes",
            "0.2",
            "--seed",
            "5",
            "--folder",
            "here")) {
      assertThat(child.awaitExit()).as(child.said()).isZero();
      assertThat(child.out()).as(child.said()).contains("passed");
      assertThat(String.join("\n", child.out()))
          .contains("soak   0.2 minutes · seed 5", "S2 exactly once: no violation");
    }
  }
}
