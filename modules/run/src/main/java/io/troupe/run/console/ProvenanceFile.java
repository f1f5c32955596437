package io.troupe.run.console;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The origin of a run, as its folder records it. */
final class ProvenanceFile {
  private static final int MAX_OTHER_RUNS = 20;
  private static final ObjectMapper JSON = JsonMapper.builder().build();

  private ProvenanceFile() {}

  /**
   * Returns the resolved configuration of a run, its run.json, and the configurations of its newest
   * neighbours.
   */
  static Map<String, Object> of(RunFolder folder) {
    Map<String, Object> papers = new LinkedHashMap<>();
    papers.put("resolved", read(folder.resolved()).orElse(""));
    papers.put("run", run(folder.path().resolve("run.json")));
    papers.put("others", others(folder));
    return papers;
  }

  private static Map<String, Object> run(Path file) {
    try {
      return JSON.readValue(file.toFile(), new TypeReference<>() {});
    } catch (IOException unreadable) {
      return Map.of("unreadable", String.valueOf(unreadable.getMessage()));
    }
  }

  private static Map<String, String> others(RunFolder folder) {
    Map<String, String> others = new LinkedHashMap<>();
    Path root = folder.path().toAbsolutePath().normalize().getParent();
    if (root == null) {
      return others;
    }
    try {
      for (String name : RunFolder.list(root)) {
        if (!name.equals(folder.name()) && others.size() < MAX_OTHER_RUNS) {
          read(root.resolve(name).resolve("resolved.yaml"))
              .ifPresent(yaml -> others.put(name, yaml));
        }
      }
    } catch (IOException unreadable) {
      return others;
    }
    return others;
  }

  private static Optional<String> read(Path file) {
    try {
      return Optional.of(Files.readString(file));
    } catch (IOException absent) {
      return Optional.empty();
    }
  }
}
