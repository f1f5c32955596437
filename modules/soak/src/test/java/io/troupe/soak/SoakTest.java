package io.troupe.soak;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class SoakTest {
  @TempDir private Path folder;

  @Test
  @Timeout(60)
  void run_programThatCannotStart_saysSoAtOnceWithItsOwnWords() {
    Soak.Settings settings =
        new Soak.Settings(
            List.of("/bin/sh", "-c", "echo no such library >&2; exit 3"),
            folder,
            Duration.ofMinutes(1),
            2,
            false,
            _ -> {});

    assertThatThrownBy(() -> Soak.run(settings))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(
            "the run's process ended by itself with code 3", "soak.log", "no such library");
  }
}
