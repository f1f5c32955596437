package io.troupe.engine.http.sidecar;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The named shared memory of a group of processes on Linux. Python's resource tracker removes it,
 * and a group that is killed takes the tracker along: the memory then stays until the host
 * restarts.
 */
final class SharedMemory {
  private static final Logger LOG = LoggerFactory.getLogger(SharedMemory.class);
  private static final Path FOLDER = Path.of("/dev/shm");

  /** The names that Python's multiprocessing, NCCL and PyTorch give. */
  private static final List<String> PREFIXES = List.of("psm_", "sem.mp-", "nccl-", "torch_");

  private final Set<Path> seen = new HashSet<>();

  /** Notes what the processes have mapped now. */
  void note(Collection<ProcessHandle> members) {
    for (ProcessHandle member : members) {
      try (Stream<String> maps =
          Files.lines(Path.of("/proc", Long.toString(member.pid()), "maps"))) {
        maps.map(line -> line.indexOf(FOLDER + "/") < 0 ? "" : line.substring(line.indexOf('/')))
            .filter(path -> PREFIXES.stream().anyMatch(it -> path.startsWith(FOLDER + "/" + it)))
            .filter(path -> !path.endsWith(" (deleted)"))
            .map(Path::of)
            .forEach(seen::add);
      } catch (IOException | UncheckedIOException endedOrNoLinux) {
        // then it has nothing mapped any more
      }
    }
  }

  /** Removes what was noted, once all of the processes have ended. */
  void remove() {
    for (Path file : seen) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException stays) {
        LOG.warn("shared_memory={} of an ended server stays: {}", file, stays.getMessage());
      }
    }
    seen.clear();
  }
}
