package io.troupe.app.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Cores, memory, and room for runs, for native libraries and for shared memory. */
record CapacityCheck(Machine machine) implements Check {
  private static final Pattern AVAILABLE = Pattern.compile("MemAvailable:\\s+(\\d+) kB");
  private static final long LEAST_MEMORY = 2L << 30;
  private static final long LEAST_DISK = 5L << 30;
  private static final long LEAST_CACHE = 1L << 30;
  private static final long LEAST_SHARED = 64L << 20;

  @Override
  public List<Finding> look() {
    List<Finding> findings = new ArrayList<>();
    findings.add(Finding.ok("cores", Integer.toString(machine.cores())));
    memory().ifPresent(findings::add);
    findings.add(room("disk", Path.of("."), LEAST_DISK, "runs are written here: free some"));
    Path cache = cache();
    findings.add(
        machine.canWrite(cache)
            ? room("cache", cache, LEAST_CACHE, "libtorch is unpacked here, 450 MB: free some")
            : Finding.fail(
                "cache", cache + " cannot be written", "set DJL_CACHE_DIR to a folder that can"));
    if (machine.isDirectory(Path.of("/dev/shm"))) {
      findings.add(
          room("shared memory", Path.of("/dev/shm"), LEAST_SHARED, "enlarge it, as by --shm-size"));
    }
    return findings;
  }

  private Optional<Finding> memory() {
    return machine
        .read(Path.of("/proc/meminfo"))
        .map(AVAILABLE::matcher)
        .filter(Matcher::find)
        .map(found -> Long.parseLong(found.group(1)) << 10)
        .map(
            bytes ->
                bytes >= LEAST_MEMORY
                    ? Finding.ok("memory", Bytes.text(bytes) + " available")
                    : Finding.warn(
                        "memory",
                        Bytes.text(bytes) + " available",
                        "troupe plan FILE says how much a run takes"));
  }

  private Path cache() {
    String set = machine.environment().getOrDefault("DJL_CACHE_DIR", "");
    return set.isEmpty() ? Path.of(machine.property("user.home"), ".djl.ai") : Path.of(set);
  }

  private Finding room(String name, Path path, long least, String next) {
    return machine
        .free(path)
        .map(
            bytes -> {
              String detail = "%s free at %s".formatted(Bytes.text(bytes), path);
              return bytes >= least ? Finding.ok(name, detail) : Finding.warn(name, detail, next);
            })
        .orElseGet(
            () -> Finding.warn(name, "it is unknown how much is free at " + path, "look with df"));
  }
}
