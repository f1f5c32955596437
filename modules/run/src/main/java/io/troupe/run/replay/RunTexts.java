package io.troupe.run.replay;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.core.rollout.LeaseId;
import io.troupe.store.folder.RunFolder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The lines of a run's traces about a lease; a run may have none, or have dropped the oldest. */
record RunTexts(RunFolder folder) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The texts and verdicts of a group. */
  Optional<JsonNode> rollout(LeaseId lease) {
    return last("rollouts", "\"group\":%d,\"fence\":%d,".formatted(group(lease), lease.fence()));
  }

  /** What a step's loss marked of the tokens of a group, an object a completion. */
  Optional<JsonNode> marks(long step, LeaseId lease) {
    return last("trained", "\"step\":%d,".formatted(step)).stream()
        .flatMap(line -> line.path("groups").valueStream())
        .filter(
            group ->
                group.path("group").asLong() == group(lease)
                    && group.path("fence").asLong() == lease.fence()
                    && group.has("marks"))
        .map(group -> group.path("marks"))
        .findFirst();
  }

  private static long group(LeaseId lease) {
    return lease.group().number();
  }

  /** The last line that holds a text: a resumed run may have written an earlier one again. */
  private Optional<JsonNode> last(String name, String part) {
    for (String file : List.of(name + ".jsonl", name + ".1.jsonl")) {
      Path path = folder.traces().resolve(file);
      if (!Files.isReadable(path)) {
        continue;
      }
      try (BufferedReader lines = Files.newBufferedReader(path)) {
        Optional<String> found =
            lines.lines().filter(line -> line.contains(part)).reduce((_, later) -> later);
        if (found.isPresent()) {
          return Optional.of(JSON.readTree(found.get()));
        }
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      }
    }
    return Optional.empty();
  }
}
