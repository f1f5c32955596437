package io.troupe.environments.harbor;

import io.troupe.environments.box.BoxFile;
import io.troupe.environments.box.BoxTask;
import io.troupe.environments.box.Submission;
import io.troupe.environments.container.ContainerChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A task in the folder format of Harbor (schema 1.0 to 1.4), as far as a sandbox, or a container
 * without a network, can be its box: {@code instruction.md}, {@code task.toml}, {@code
 * environment/}, {@code tests/test.sh}.
 *
 * @param folder place of the task
 * @param instruction the task in words, for the policy
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

  /** The folder of a task's own files when the task names none. */
  static final String DEFAULT_FOLDER = "/app";

  public HarborTask {
    tests = List.copyOf(tests);
    variables = Map.copyOf(variables);
  }

  /**
   * Reads a folder, on a host with the containers that it has.
   *
   * @throws HarborException if something is missing or broken, or nothing here can be its box
   * @throws IOException if a file cannot be read
   */
  public static HarborTask read(Path folder) throws IOException {
    return read(folder, ContainerChoice.ofThisHost());
  }

  /** Reads a folder on a host with these containers. */
  static HarborTask read(Path folder, ContainerChoice containers) throws IOException {
    return HarborTaskReader.read(folder, containers);
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

  /** Returns the command of a solution of one line; empty if there is none. */
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
}
