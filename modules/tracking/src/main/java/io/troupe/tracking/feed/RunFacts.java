package io.troupe.tracking.feed;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.store.file.StoreJson;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The description of a run for a tracker.
 *
 * @param name of its folder, which is its id
 * @param project a project or experiment of the tracker
 * @param startedMillis since 1970
 * @param config texts of the configuration by path
 * @param origin of the run: host, versions, and the state of its source code as git knows it
 */
public record RunFacts(
    String name,
    String project,
    long startedMillis,
    Map<String, String> config,
    Map<String, String> origin) {
  private static final String COMMIT = "git.commit";

  /**
   * Reads a run folder.
   *
   * @param config texts of the run's configuration by path
   */
  public static RunFacts of(RunFolder folder, String project, Map<String, String> config)
      throws IOException {
    JsonNode run = StoreJson.LINE.readTree(Files.readAllBytes(folder.path().resolve("run.json")));
    Map<String, String> origin = new LinkedHashMap<>();
    for (String key : new String[] {"troupe", "started", "host", "jdk", "os"}) {
      origin.put(key, run.path(key).asText());
    }
    run.path("git").properties().forEach(e -> origin.put("git." + e.getKey(), text(e.getValue())));
    origin.put("command_line", text(run.path("command_line")));
    origin.put("folder", folder.path().toAbsolutePath().normalize().toString());
    Path status = folder.path().resolve("patches").resolve("git_status.txt");
    if (Files.isRegularFile(status)) {
      origin.put("git.status", Files.readString(status));
    }
    return new RunFacts(
        folder.name(),
        project,
        Instant.parse(run.path("started").asText()).toEpochMilli(),
        config,
        origin);
  }

  private static String text(JsonNode value) {
    return value.isValueNode() ? value.asText() : value.toString();
  }

  /** The commit of the source code; "" if git knows none. */
  public String commit() {
    return origin.getOrDefault(COMMIT, "");
  }

  /** The host of the coordinator. */
  public String host() {
    return origin.getOrDefault("host", "");
  }
}
