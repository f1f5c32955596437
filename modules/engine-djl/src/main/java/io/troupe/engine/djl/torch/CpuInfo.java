package io.troupe.engine.djl.torch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The first CPU in Linux's description of the machine; without any line on other systems. */
record CpuInfo(List<String> lines) {
  private static final Path FILE = Path.of("/proc/cpuinfo");

  CpuInfo {
    lines = List.copyOf(lines);
  }

  static CpuInfo ofThisMachine() {
    if (!Files.isReadable(FILE)) {
      return new CpuInfo(List.of());
    }
    try {
      return new CpuInfo(Files.readAllLines(FILE));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** Returns the CPU's name. */
  Optional<String> model() {
    return value("model name");
  }

  /** Returns the names of its instruction sets, such as {@code avx2}. */
  List<String> instructions() {
    return value("flags")
        .or(() -> value("Features"))
        .map(names -> List.of(names.split(" ")))
        .orElse(List.of());
  }

  private Optional<String> value(String key) {
    return lines.stream()
        .filter(line -> line.startsWith(key))
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .findFirst();
  }
}
