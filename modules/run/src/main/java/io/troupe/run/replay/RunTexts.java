package io.troupe.run.replay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The lines of a run's traces about a lease; a run may have none, or have dropped the oldest. */
record RunTexts(RunFolder folder) {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final Pattern LEASE = Pattern.compile("\"group\":(\\d+),\"fence\":(\\d+),");

  /** The texts and verdicts of a group. */
  Optional<JsonNode> rollout(LeaseId lease) {
    return Optional.ofNullable(rollouts(Set.of(lease)).get(lease));
  }

  /** The texts and verdicts of groups, by one pass over the files. */
  Map<LeaseId, JsonNode> rollouts(Collection<LeaseId> leases) {
    Set<LeaseId> wanted = Set.copyOf(leases);
    Map<LeaseId, String> found = new HashMap<>();
    read(
        "rollouts",
        line -> {
          Matcher named = LEASE.matcher(line);
          if (named.find()) {
            LeaseId lease =
                new LeaseId(
                    new GroupId(Long.parseLong(named.group(1))), Long.parseLong(named.group(2)));
            if (wanted.contains(lease)) {
              found.put(lease, line); // a resumed run may have written an earlier one again
            }
          }
        });
    Map<LeaseId, JsonNode> parsed = new HashMap<>();
    found.forEach((lease, line) -> parsed.put(lease, parse(line)));
    return parsed;
  }

  /** Returns the marks of a step's loss on the tokens of its groups, an object a completion. */
  Map<LeaseId, JsonNode> marks(long step) {
    Map<LeaseId, JsonNode> marks = new HashMap<>();
    String part = "\"step\":%d,".formatted(step);
    read(
        "trained",
        line -> {
          if (line.contains(part)) {
            for (JsonNode group : parse(line).path("groups")) {
              LeaseId lease =
                  new LeaseId(
                      new GroupId(group.path("group").asLong()), group.path("fence").asLong());
              if (group.has("marks")) {
                marks.put(lease, group.path("marks"));
              }
            }
          }
        });
    return marks;
  }

  private static JsonNode parse(String line) {
    try {
      return JSON.readTree(line);
    } catch (JsonProcessingException damaged) {
      return JSON.missingNode(); // the last line of a process that was killed
    }
  }

  /** Oldest line first. */
  private void read(String name, Consumer<String> use) {
    for (String file : List.of(name + ".1.jsonl", name + ".jsonl")) {
      Path path = folder.traces().resolve(file);
      if (!Files.isReadable(path)) {
        continue;
      }
      try (Stream<String> lines = Files.lines(path)) {
        lines.forEach(use);
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      }
    }
  }
}
