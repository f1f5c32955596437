package io.troupe.store.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class MachineMemoryTest {
  @Test
  void available_onLinux_isAPartOfTheTotal() {
    OptionalLong available = MachineMemory.available();

    if (System.getProperty("os.name").equals("Linux")) {
      assertThat(available).isPresent();
    }
    available.ifPresent(bytes -> assertThat(bytes).isBetween(1L << 20, MachineMemory.total()));
  }
}
