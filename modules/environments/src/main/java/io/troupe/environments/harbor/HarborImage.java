package io.troupe.environments.harbor;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.environments.box.BoxRoot;
import io.troupe.environments.box.Submission;
import io.troupe.environments.container.ContainerChoice;
import io.troupe.environments.container.ContainerException;
import io.troupe.environments.container.ContainerImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The container image of a task: one by name, or that of its Dockerfile. */
final class HarborImage {
  private static final double DEFAULT_CPUS = 1;
  private static final double DEFAULT_BUILD_TIMEOUT = 600;

  private HarborImage() {}

  /**
   * Returns what a task's box begins with.
   *
   * @throws HarborException if that takes a container, and this host has no engine
   */
  static BoxRoot root(
      Path folder, JsonNode environment, Dockerfile dockerfile, ContainerChoice containers)
      throws IOException {
    String name = environment.path("docker_image").asText();
    if (name.isEmpty() && dockerfile.image().isEmpty()) {
      return new BoxRoot.Machine();
    }
    String needs =
        name.isEmpty()
            ? dockerfile.image() + " needs a container image"
            : "%s: line %d: environment.docker_image asks for a container image"
                .formatted(folder.resolve("task.toml"), line(folder, "docker_image"));
    try {
      return new BoxRoot.Image(
          containers.engine(),
          name.isEmpty()
              ? new ContainerImage.Built(
                  folder.resolve("environment"),
                  Duration.ofMillis(
                      Math.round(
                          1000
                              * environment
                                  .path("build_timeout_sec")
                                  .asDouble(DEFAULT_BUILD_TIMEOUT))))
              : new ContainerImage.Named(name),
          environment.path("cpus").asDouble(DEFAULT_CPUS),
          memory(folder, environment));
    } catch (ContainerException missing) {
      throw new HarborException(
          "%s, and %s; or leave the task out%s"
              .formatted(
                  needs,
                  missing.getMessage(),
                  name.isEmpty() ? ", or write FROM, WORKDIR and COPY alone" : ""));
    }
  }

  private static int line(Path folder, String key) throws IOException {
    List<String> lines = Files.readAllLines(folder.resolve("task.toml"));
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).contains(key)) {
        return i + 1;
      }
    }
    return 1;
  }

  /** Bytes: {@code memory_mb}, or {@code memory} with a unit as in earlier schemas; 0 for none. */
  private static long memory(Path folder, JsonNode environment) {
    if (environment.has("memory_mb")) {
      return environment.path("memory_mb").asLong() << 20;
    }
    String text = environment.path("memory").asText().toUpperCase(Locale.ROOT);
    if (text.isEmpty()) {
      return 0;
    }
    if (!text.matches("\\d{1,6}[MG]")) {
      throw new HarborException(
          "%s: environment.memory (%s) is a number with M or G; write memory_mb"
              .formatted(folder.resolve("task.toml"), text));
    }
    long number = Long.parseLong(text.substring(0, text.length() - 1));
    return number << (text.endsWith("G") ? 30 : 20);
  }

  /** Returns a path of a container where a task may put something. */
  static String inContainer(Path folder, String path) {
    String clean =
        path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    boolean system =
        List.of("/proc", "/sys", "/dev", "/logs").contains(clean)
            || List.of("/proc", "/sys", "/dev").stream()
                .anyMatch(root -> Submission.below(clean, root));
    if (clean.length() < 2 || !Submission.below(clean, "/" + clean.split("/", -1)[1]) || system) {
      throw new HarborException(
          "%s: %s is no path that a task may have in a container; name an absolute path of its own"
              .formatted(folder, path));
    }
    return clean;
  }
}
