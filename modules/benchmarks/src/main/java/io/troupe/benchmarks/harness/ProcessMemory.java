package io.troupe.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Resident memory of this process as Linux counts it: Java's heap, native memory and mapped files.
 *
 * @param residentKib now, in KiB
 * @param peakKib the most there has been, in KiB
 */
public record ProcessMemory(long residentKib, long peakKib) {
  public static ProcessMemory read() throws IOException {
    long resident = 0;
    long peak = 0;
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        resident = kib(line);
      } else if (line.startsWith("VmHWM:")) {
        peak = kib(line);
      }
    }
    return new ProcessMemory(resident, peak);
  }

  private static long kib(String line) {
    return Long.parseLong(line.replaceAll("\\D", ""));
  }
}
