package io.troupe.base.process;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Programs by name in the folders of the variable {@code PATH}. */
public final class SearchPath {
  private SearchPath() {}

  /** Returns a program of this process's search path; see {@link #find(String, Map)}. */
  public static Optional<Path> find(String program) {
    return find(program, System.getenv());
  }

  /**
   * Returns the first executable file of a name.
   *
   * @param program a name, or the path of a program, which is then returned if it is executable
   * @param environment variables, of which {@code PATH} is read; an empty folder in it is ignored,
   *     because it means the working folder, which other users may be able to write to
   */
  public static Optional<Path> find(String program, Map<String, String> environment) {
    if (program.indexOf('/') >= 0) {
      return Optional.of(Path.of(program)).filter(SearchPath::isProgram);
    }
    return Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder).resolve(program))
        .filter(SearchPath::isProgram)
        .findFirst();
  }

  private static boolean isProgram(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }
}
