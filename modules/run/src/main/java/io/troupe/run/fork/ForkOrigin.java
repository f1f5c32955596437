package io.troupe.run.fork;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.store.file.StoreJson;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.StreamSupport;

/**
 * The origin of a fork: a part of its run.json.
 *
 * @param run name of the parent
 * @param step behind which the fork goes its own way
 * @param set the keys that it changes, as {@code KEY=VALUE}
 */
public record ForkOrigin(String run, long step, List<String> set) {
  private static final String FIELD = "fork";

  public ForkOrigin {
    set = List.copyOf(set);
  }

  /** The origin of a run; none if it is not a fork. */
  public static Optional<ForkOrigin> of(RunFolder folder) throws IOException {
    JsonNode fork =
        StoreJson.LINE.readTree(Files.readAllBytes(folder.path().resolve("run.json"))).path(FIELD);
    return fork.isMissingNode()
        ? Optional.empty()
        : Optional.of(
            new ForkOrigin(
                fork.path("run").asText(),
                fork.path("step").asLong(),
                StreamSupport.stream(fork.path("set").spliterator(), false)
                    .map(JsonNode::asText)
                    .toList()));
  }

  /** Adds it to the content of a run.json. */
  Map<String, Object> in(Map<String, Object> run) {
    Map<String, Object> all = new LinkedHashMap<>(run);
    all.put(FIELD, toMap());
    return all;
  }

  /** For JSON. */
  Map<String, Object> toMap() {
    return Map.of("run", run, "step", step, "set", set);
  }

  /** For people, behind the name of the fork. */
  String words() {
    return "is a fork of %s behind step %d with %s".formatted(run, step, String.join(", ", set));
  }
}
