package io.troupe.environments.harbor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import io.troupe.base.sandbox.SandboxCommand;
import io.troupe.environments.box.BoxContents;
import io.troupe.environments.box.BoxFile;
import io.troupe.environments.box.BoxRoot;
import io.troupe.environments.box.BoxTask;
import io.troupe.environments.box.Submission;
import io.troupe.environments.container.ContainerChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Reads a task's folder, and refuses a task that asks for more than a box has. */
final class HarborTaskReader {
  /** The folder of files that a task hands in always. */
  private static final String ARTIFACTS = "/logs/artifacts";

  private static final double DEFAULT_TIMEOUT_SECONDS = 600;
  private static final long MOST_BYTES = 16L << 20;

  /** Keys that ask for parts that a sandbox does not have, by their tables. */
  private static final Map<String, List<String>> MISSING =
      Map.of(
          "environment",
          List.of("gpus", "gpu_types", "tpu", "healthcheck", "mcp_servers"),
          "agent",
          List.of("user"),
          "verifier",
          List.of("user", "environment", "collect"));

  /** Checks a path of a box, and returns it without a slash at its end. */
  @FunctionalInterface
  private interface BoxPaths {
    String checked(Path folder, String path);
  }

  private final Path folder;
  private final String instruction;
  private final JsonNode settings;
  private final Dockerfile dockerfile;
  private final BoxRoot root;
  private final BoxPaths paths;

  private HarborTaskReader(Path folder, ContainerChoice containers) throws IOException {
    this.folder = folder;
    instruction = text(folder, "instruction.md").strip();
    if (instruction.isEmpty()) {
      throw new HarborException(folder.resolve("instruction.md") + " is empty");
    }
    if (!Files.isRegularFile(folder.resolve("tests/test.sh"))) {
      throw new HarborException(
          folder.resolve("tests/test.sh") + " is missing; it grades the task");
    }
    settings = settings(folder);
    refuse();
    dockerfile = Dockerfile.of(folder.resolve("environment"));
    root = HarborImage.root(folder, settings.path("environment"), dockerfile, containers);
    paths = inSandbox() ? HarborTaskReader::inSandbox : HarborImage::inContainer;
  }

  /** Reads a folder on a host with these containers. */
  static HarborTask read(Path folder, ContainerChoice containers) throws IOException {
    return new HarborTaskReader(folder, containers).task();
  }

  private boolean inSandbox() {
    return root instanceof BoxRoot.Machine;
  }

  private HarborTask task() throws IOException {
    String work =
        paths.checked(
            folder, settings.path("environment").path("workdir").asText(dockerfile.workdir()));
    List<BoxFile> files = new ArrayList<>();
    if (inSandbox()) {
      for (Map.Entry<Path, String> copy : dockerfile.copies().entrySet()) {
        files.addAll(files(copy.getKey(), paths.checked(folder, copy.getValue())));
      }
    }
    List<BoxFile> tests = files(folder.resolve("tests"), "/tests");
    requireSize(files, tests);
    BoxContents contents =
        new BoxContents(
            work, List.of(work, "/logs/agent", ARTIFACTS), files, Map.of(), List.of(), root);
    return new HarborTask(
        folder, instruction, new BoxTask(contents, handedIn(work)), tests, variables(), limit());
  }

  private void requireSize(List<BoxFile> files, List<BoxFile> tests) {
    long bytes =
        Stream.concat(files.stream(), tests.stream()).mapToLong(file -> file.bytes().length).sum();
    if (bytes > MOST_BYTES) {
      throw new HarborException(
          "%s: environment/ and tests/ have %,d bytes, and a sandbox takes %,d"
              .formatted(folder, bytes, MOST_BYTES));
    }
  }

  private Duration limit() {
    double seconds =
        settings.path("verifier").path("timeout_sec").asDouble(DEFAULT_TIMEOUT_SECONDS);
    return Duration.ofMillis(Math.round(1000 * seconds));
  }

  private static JsonNode settings(Path folder) throws IOException {
    try {
      return new TomlMapper().readTree(text(folder, "task.toml"));
    } catch (JsonProcessingException broken) {
      throw new HarborException(
          "%s is no TOML: %s".formatted(folder.resolve("task.toml"), broken.getOriginalMessage()));
    }
  }

  private void refuse() {
    if (settings.has("steps")) {
      throw needs("[[steps]]", "several steps");
    }
    MISSING.forEach((table, keys) -> keys.forEach(key -> refuse(table, key)));
    for (String table : List.of("environment", "agent", "verifier")) {
      String mode = settings.path(table).path("network_mode").asText("no-network");
      if (!mode.equals("no-network")) {
        throw needs(table + ".network_mode = " + mode, "a network");
      }
    }
    if (settings.path("environment").path("allow_internet").asBoolean()) {
      throw needs("environment.allow_internet", "a network");
    }
  }

  private void refuse(String table, String key) {
    JsonNode value = settings.path(table).path(key);
    boolean none = value.isMissingNode() || (value.isContainerNode() && value.isEmpty());
    if (!none && !(value.isNumber() && value.asInt() == 0)) {
      throw needs(table + "." + key, "a container's services or devices");
    }
  }

  private HarborException needs(String key, String what) {
    return new HarborException(
        "%s: %s asks for %s, and tasks run without; leave the task out, or change it"
            .formatted(folder.resolve("task.toml"), key, what));
  }

  private List<String> handedIn(String work) {
    List<String> handed = new ArrayList<>();
    for (JsonNode each : settings.path("artifacts")) {
      if (each.isObject() && (each.has("exclude") || each.has("service"))) {
        throw needs("artifacts with exclude or service", "a container engine");
      }
      String path = each.isObject() ? each.path("source").asText() : each.asText();
      String whole = paths.checked(folder, path.startsWith("/") ? path : work + "/" + path);
      if (Submission.below(whole, HarborTask.REWARDS) || Submission.below(whole, "/tests")) {
        throw new HarborException(
            "%s: artifacts name %s, which belongs to the tests; name another path"
                .formatted(folder.resolve("task.toml"), path));
      }
      handed.add(whole);
    }
    if (handed.isEmpty()) {
      handed.add(work);
    }
    if (!handed.contains(ARTIFACTS)) {
      handed.add(ARTIFACTS);
    }
    return handed;
  }

  private Map<String, String> variables() {
    Map<String, String> variables = new LinkedHashMap<>();
    settings
        .path("verifier")
        .path("env")
        .properties()
        .forEach(
            each -> {
              String value = each.getValue().asText();
              if (value.contains("${")) {
                throw new HarborException(
                    "%s: verifier.env.%s takes a variable of this machine, which tests do not see; write the value"
                        .formatted(folder.resolve("task.toml"), each.getKey()));
              }
              variables.put(each.getKey(), value);
            });
    return variables;
  }

  private static String inSandbox(Path folder, String path) {
    String clean =
        path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    boolean there =
        Stream.concat(SandboxCommand.FOLDERS.stream(), Stream.of("/tmp"))
            .anyMatch(root -> Submission.below(clean, root));
    if (!there || clean.equals("/logs")) {
      throw new HarborException(
          "%s: %s is no path of a sandbox, which has %s and /tmp; a task that needs another one needs a container image of its own"
              .formatted(folder, path, String.join(", ", SandboxCommand.FOLDERS)));
    }
    return clean;
  }

  private static List<BoxFile> files(Path from, String to) throws IOException {
    if (Files.isRegularFile(from, LinkOption.NOFOLLOW_LINKS)) {
      return List.of(new BoxFile(to, Files.isExecutable(from), Files.readAllBytes(from)));
    }
    List<Path> found;
    try (Stream<Path> all = Files.walk(from)) {
      found = all.filter(each -> !Files.isDirectory(each)).sorted().toList();
    }
    List<BoxFile> files = new ArrayList<>();
    for (Path each : found) {
      if (!Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS)) {
        throw new HarborException(each + " is no regular file; put the file itself there");
      }
      if (Files.size(each) > MOST_BYTES) {
        throw new HarborException("%s has more than %,d bytes".formatted(each, MOST_BYTES));
      }
      files.add(
          new BoxFile(
              to + "/" + from.relativize(each),
              Files.isExecutable(each),
              Files.readAllBytes(each)));
    }
    return files;
  }

  private static String text(Path folder, String name) throws IOException {
    Path file = folder.resolve(name);
    if (!Files.isRegularFile(file)) {
      throw new HarborException(file + " is missing; a task has it");
    }
    return Files.readString(file);
  }
}
