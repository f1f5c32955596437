package io.troupe.cli.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Cores, memory, and room for runs, for native libraries and for shared memory. */
record CapacityCheck(Machine machine) implements MachineCheck {
  private static final Pattern AVAILABLE = Pattern.compile("MemAvailable:\\s+(\\d+) kB");
  private static final Path MEMORY = Path.of("/dev/shm");

  /** The options of the file system of shared memory, in a line of /proc/mounts. */
  private static final Pattern SHARED_MEMORY = Pattern.compile("(?m)^\\S+ /dev/shm tmpfs (\\S+)");

  private static final Pattern HUGE = Pattern.compile("(^|,)huge=(always|within_size|advise)(,|$)");
  private static final long LEAST_MEMORY = 2L << 30;
  private static final long LEAST_DISK = 5L << 30;
  private static final long LEAST_CACHE = 1L << 30;
  private static final long LEAST_SHARED = 64L << 20;

  @Override
  public List<CheckResult> look() {
    List<CheckResult> findings = new ArrayList<>();
    findings.add(CheckResult.ok("cores", Integer.toString(machine.cores())));
    memory().ifPresent(findings::add);
    findings.add(room("disk", Path.of("."), "", LEAST_DISK, "runs are written here: free some"));
    Path cache = cache();
    findings.add(
        machine.canWrite(cache)
            ? room("cache", cache, "", LEAST_CACHE, "libtorch is unpacked here, 450 MB: free some")
            : CheckResult.fail(
                "cache", cache + " cannot be written", "set DJL_CACHE_DIR to a folder that can"));
    if (machine.isDirectory(MEMORY)) {
      findings.add(
          room("shared memory", MEMORY, pages(), LEAST_SHARED, "enlarge it, as by --shm-size"));
    }
    return findings;
  }

  private Optional<CheckResult> memory() {
    return machine
        .read(Path.of("/proc/meminfo"))
        .map(AVAILABLE::matcher)
        .filter(Matcher::find)
        .map(found -> Long.parseLong(found.group(1)) << 10)
        .map(
            bytes ->
                bytes >= LEAST_MEMORY
                    ? CheckResult.ok("memory", ByteText.text(bytes) + " available")
                    : CheckResult.warn(
                        "memory",
                        ByteText.text(bytes) + " available",
                        "troupe plan FILE says how much a run takes"));
  }

  private Path cache() {
    String set = machine.environment().getOrDefault("DJL_CACHE_DIR", "");
    return set.isEmpty() ? Path.of(machine.property("user.home"), ".djl.ai") : Path.of(set);
  }

  /**
   * Returns the size of the pages of shared memory. With huge pages a version of large weights
   * takes a quarter less processor time (docs/cluster.md).
   */
  private String pages() {
    return machine
        .read(Path.of("/proc/mounts"))
        .map(SHARED_MEMORY::matcher)
        .filter(Matcher::find)
        .map(
            mount ->
                HUGE.matcher(mount.group(1)).find()
                    ? ", in huge pages"
                    : ", not in huge pages (docs/cluster.md)")
        .orElse("");
  }

  private CheckResult room(String name, Path path, String pages, long least, String next) {
    return machine
        .free(path)
        .map(
            bytes -> {
              String detail = "%s free at %s%s".formatted(ByteText.text(bytes), path, pages);
              return bytes >= least
                  ? CheckResult.ok(name, detail)
                  : CheckResult.warn(name, detail, next);
            })
        .orElseGet(
            () ->
                CheckResult.warn(
                    name, "it is unknown how much is free at " + path, "look with df"));
  }
}
