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
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A task in the folder format of Harbor (schema 1.0 to 1.4), as far as a sandbox, or a container
 * without a network, can be its box: {@code instruction.md}, {@code task.toml}, {@code
 * environment/}, {@code tests/test.sh}.
 *
 * @param folder of the task
 * @param instruction text that the policy is asked
 * @param box files that the task places, and paths that are handed in
 * @param tests files below {@code /tests}, in the box of the tests alone
 * @param variables of the tests' environment
 * @param limit of the tests
 */
public record HarborTask(
    Path folder,
    String instruction,
    BoxTask box,
    List<BoxFile> tests,
    Map<String, String> variables,
    Duration limit) {
  /** The folder where the tests leave the reward. */
  static final String REWARDS = "/logs/verifier";

  /** Collected always. */
  private static final String ARTIFACTS = "/logs/artifacts";

  /** Checks a path of a box. */
  private interface Paths {
    String checked(Path folder, String path);
  }

  private static final String DEFAULT_FOLDER = "/app";
  private static final double DEFAULT_TIMEOUT = 600;
  private static final long MOST_BYTES = 16L << 20;

  /** Keys that ask for what a sandbox does not have, by their tables. */
  private static final Map<String, List<String>> MISSING =
      Map.of(
          "environment",
          List.of("gpus", "gpu_types", "tpu", "healthcheck", "mcp_servers"),
          "agent",
          List.of("user"),
          "verifier",
          List.of("user", "environment", "collect"));

  public HarborTask {
    tests = List.copyOf(tests);
    variables = Map.copyOf(variables);
  }

  /**
   * Reads a folder.
   *
   * @throws HarborException if something is missing or broken, or nothing here can be its box
   * @throws IOException if a file cannot be read
   */
  public static HarborTask read(Path folder) throws IOException {
    return read(folder, ContainerChoice.ofThisHost());
  }

  /** Reads a folder on a host with these containers. */
  static HarborTask read(Path folder, ContainerChoice containers) throws IOException {
    String instruction = text(folder, "instruction.md").strip();
    if (instruction.isEmpty()) {
      throw new HarborException(folder.resolve("instruction.md") + " is empty");
    }
    if (!Files.isRegularFile(folder.resolve("tests/test.sh"))) {
      throw new HarborException(
          folder.resolve("tests/test.sh") + " is missing; it grades the task");
    }
    JsonNode settings = settings(folder);
    refuse(folder, settings);
    Dockerfile dockerfile = Dockerfile.of(folder.resolve("environment"));
    BoxRoot root = HarborImage.root(folder, settings.path("environment"), dockerfile, containers);
    boolean machine = root instanceof BoxRoot.Machine;
    Paths paths = machine ? HarborTask::inSandbox : HarborImage::inContainer;
    String work =
        paths.checked(
            folder, settings.path("environment").path("workdir").asText(dockerfile.workdir()));
    List<BoxFile> files = new ArrayList<>();
    for (Map.Entry<Path, String> copy :
        machine ? dockerfile.copies().entrySet() : Set.<Map.Entry<Path, String>>of()) {
      files.addAll(files(copy.getKey(), paths.checked(folder, copy.getValue())));
    }
    List<BoxFile> tests = files(folder.resolve("tests"), "/tests");
    long bytes =
        Stream.concat(files.stream(), tests.stream()).mapToLong(f -> f.bytes().length).sum();
    if (bytes > MOST_BYTES) {
      throw new HarborException(
          "%s: environment/ and tests/ have %,d bytes, and a sandbox takes %,d"
              .formatted(folder, bytes, MOST_BYTES));
    }
    return new HarborTask(
        folder,
        instruction,
        new BoxTask(
            new BoxContents(
                work, List.of(work, "/logs/agent", ARTIFACTS), files, Map.of(), List.of(), root),
            handedIn(folder, settings, work, paths)),
        tests,
        variables(folder, settings),
        Duration.ofMillis(
            Math.round(
                1000 * settings.path("verifier").path("timeout_sec").asDouble(DEFAULT_TIMEOUT))));
  }

  /** Returns the folders of tasks below a folder, in the order of their names. */
  public static List<Path> folders(Path parent) throws IOException {
    try (Stream<Path> found = Files.list(parent)) {
      List<Path> tasks =
          found.filter(each -> Files.exists(each.resolve("task.toml"))).sorted().toList();
      if (tasks.isEmpty()) {
        throw new HarborException(
            "%s has no task: each is a folder with a task.toml".formatted(parent));
      }
      return tasks;
    }
  }

  /** Whether the policy may hand in a path. */
  boolean takes(String path) {
    return box.handedIn().stream().anyMatch(root -> Submission.below(path, root));
  }

  /** The command of a solution of one line; empty if there is none. */
  public Optional<String> solution() throws IOException {
    Path script = folder.resolve("solution/solve.sh");
    if (!Files.isRegularFile(script)) {
      return Optional.empty();
    }
    List<String> lines =
        Files.readAllLines(script).stream()
            .map(String::strip)
            .filter(line -> !line.isEmpty() && !line.startsWith("#"))
            .toList();
    return lines.size() == 1 ? Optional.of(lines.getFirst()) : Optional.empty();
  }

  private static JsonNode settings(Path folder) throws IOException {
    try {
      return new TomlMapper().readTree(text(folder, "task.toml"));
    } catch (JsonProcessingException broken) {
      throw new HarborException(
          "%s is no TOML: %s".formatted(folder.resolve("task.toml"), broken.getOriginalMessage()));
    }
  }

  private static void refuse(Path folder, JsonNode settings) {
    if (settings.has("steps")) {
      throw needs(folder, "[[steps]]", "several steps");
    }
    MISSING.forEach(
        (table, keys) ->
            keys.forEach(
                key -> {
                  JsonNode value = settings.path(table).path(key);
                  boolean none =
                      value.isMissingNode() || (value.isContainerNode() && value.isEmpty());
                  if (!none && !(value.isNumber() && value.asInt() == 0)) {
                    throw needs(folder, table + "." + key, "a container's services or devices");
                  }
                }));
    for (String table : List.of("environment", "agent", "verifier")) {
      String mode = settings.path(table).path("network_mode").asText("no-network");
      if (!mode.equals("no-network")) {
        throw needs(folder, table + ".network_mode = " + mode, "a network");
      }
    }
    if (settings.path("environment").path("allow_internet").asBoolean()) {
      throw needs(folder, "environment.allow_internet", "a network");
    }
  }

  private static HarborException needs(Path folder, String key, String what) {
    return new HarborException(
        "%s: %s asks for %s, and tasks run without; leave the task out, or change it"
            .formatted(folder.resolve("task.toml"), key, what));
  }

  private static List<String> handedIn(Path folder, JsonNode settings, String work, Paths allowed) {
    List<String> paths = new ArrayList<>();
    for (JsonNode each : settings.path("artifacts")) {
      if (each.isObject() && (each.has("exclude") || each.has("service"))) {
        throw needs(folder, "artifacts with exclude or service", "a container engine");
      }
      String path = each.isObject() ? each.path("source").asText() : each.asText();
      String whole = allowed.checked(folder, path.startsWith("/") ? path : work + "/" + path);
      if (Submission.below(whole, REWARDS) || Submission.below(whole, "/tests")) {
        throw new HarborException(
            "%s: artifacts name %s, which belongs to the tests; name another path"
                .formatted(folder.resolve("task.toml"), path));
      }
      paths.add(whole);
    }
    if (paths.isEmpty()) {
      paths.add(work);
    }
    if (!paths.contains(ARTIFACTS)) {
      paths.add(ARTIFACTS);
    }
    return paths;
  }

  private static Map<String, String> variables(Path folder, JsonNode settings) {
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

  /** Where a task's own files go when nothing says so. */
  static String defaultFolder() {
    return DEFAULT_FOLDER;
  }
}
