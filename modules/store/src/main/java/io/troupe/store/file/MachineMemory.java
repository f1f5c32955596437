package io.troupe.store.file;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/** The memory of the machine, or of the container that this process is in. */
public final class MachineMemory {
  private static final Path MEMORY = Path.of("/proc/meminfo");
  private static final String AVAILABLE = "MemAvailable:";
  private static final long KIB = 1024;

  private MachineMemory() {}

  /** Bytes of all of it; 0 if the system does not say. */
  public static long total() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean machine
        ? machine.getTotalMemorySize()
        : 0;
  }

  /** Bytes that a process can still get without swapping; empty if the system does not say. */
  public static OptionalLong available() {
    if (!Files.isReadable(MEMORY)) {
      return OptionalLong.empty();
    }
    try {
      return Files.readAllLines(MEMORY).stream()
          .filter(line -> line.startsWith(AVAILABLE))
          .map(line -> line.substring(AVAILABLE.length(), line.length() - "kB".length()).strip())
          .mapToLong(kib -> Math.min(total(), Long.parseLong(kib) * KIB))
          .findFirst();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
