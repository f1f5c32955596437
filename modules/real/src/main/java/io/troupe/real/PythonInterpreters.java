package io.troupe.real;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The Pythons of this machine: those of the search path, and those that pyenv keeps. A program of
 * the right name may be a shim with nothing behind it, so each is asked for its version.
 *
 * @param variables of the environment, of which {@code PATH}, {@code HOME} and {@code PYENV_ROOT}
 *     are read
 */
record PythonInterpreters(Map<String, String> variables) {
  private static final String QUESTION = "import sys; print('%d.%d' % sys.version_info[:2])";
  private static final ProgramLimits LIMITS = new ProgramLimits(Duration.ofSeconds(20), 1L << 30);

  /** Returns the first Python of a version, such as {@code 3.12}, that answers. */
  Optional<Path> find(String version) throws IOException, InterruptedException {
    for (Path candidate : candidates(version)) {
      if (Files.isExecutable(candidate) && version(candidate).equals(version)) {
        return Optional.of(candidate);
      }
    }
    return Optional.empty();
  }

  private List<Path> candidates(String version) throws IOException {
    List<Path> found = new ArrayList<>();
    for (String folder : variables.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      if (!folder.isEmpty()) {
        found.add(Path.of(folder, "python" + version));
        found.add(Path.of(folder, "python3"));
      }
    }
    String home = variables.getOrDefault("HOME", "/");
    Path kept = Path.of(variables.getOrDefault("PYENV_ROOT", home + "/.pyenv"), "versions");
    if (Files.isDirectory(kept)) {
      try (Stream<Path> versions = Files.list(kept)) {
        versions
            .filter(folder -> folder.getFileName().toString().startsWith(version + "."))
            .sorted()
            .forEach(folder -> found.add(folder.resolve("bin").resolve("python" + version)));
      }
    }
    return found;
  }

  private String version(Path python) throws InterruptedException {
    List<String> lines = new ArrayList<>();
    try {
      BoundedProgram.run(List.of(python.toString(), "-c", QUESTION), variables, LIMITS, lines::add);
    } catch (IOException cannotBeStarted) {
      return "";
    }
    return lines.isEmpty() ? "" : lines.getLast().strip();
  }
}
