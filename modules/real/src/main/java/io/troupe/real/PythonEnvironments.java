package io.troupe.real;

import io.troupe.base.cache.CompletionMarker;
import io.troupe.base.cache.SharedFolders;
import io.troupe.base.files.FileTree;
import io.troupe.base.process.SearchPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Environments of Python with pinned packages, each made once for this user, by {@code uv} or by
 * {@code venv} and {@code pip}.
 *
 * @param cache the folder that holds them
 * @param variables of the programs that make them: they name the registry, proxies and certificates
 * @param say takes a line about each step
 */
record PythonEnvironments(Path cache, Map<String, String> variables, Consumer<String> say) {
  /** An environment, or why there is none. */
  sealed interface Made {}

  record Ready(Path python) implements Made {}

  record Missing(String why) implements Made {}

  private static final long MEMORY = 5L << 30;

  /** A step of the making failed; its message is the reason. */
  private static final class MakingFailed extends IOException {
    private static final long serialVersionUID = 1;

    MakingFailed(String message) {
      super(message);
    }
  }

  /** Returns the environments in the folder that the XDG Base Directory Specification names. */
  static PythonEnvironments ofUser(Map<String, String> variables, Consumer<String> say) {
    String named = variables.getOrDefault("XDG_CACHE_HOME", "");
    Path base =
        named.startsWith("/")
            ? Path.of(named)
            : Path.of(System.getProperty("user.home")).resolve(".cache");
    return new PythonEnvironments(base.resolve("troupe").resolve("real"), variables, say);
  }

  /**
   * Returns an environment, and makes it if it is not there.
   *
   * @param left for the making
   */
  Made get(Requirements wanted, Duration left) throws InterruptedException {
    Path folder = cache.resolve(wanted.folderName());
    Path python = folder.resolve("bin").resolve("python");
    try {
      if (Files.isExecutable(python) && CompletionMarker.isWhole(folder)) {
        return new Ready(python);
      }
      Optional<Path> base = new PythonInterpreters(variables).find(wanted.python());
      if (base.isEmpty()) {
        return new Missing(
            "no Python %s is on this machine's PATH or among pyenv's".formatted(wanted.python()));
      }
      List<List<String>> steps = steps(wanted, base.get(), folder, python);
      new SharedFolders("made", say)
          .remade(folder, wanted.name(), () -> make(wanted, folder, python, steps, left));
      return new Ready(python);
    } catch (IOException failed) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      return new Missing(String.valueOf(failed.getMessage()));
    }
  }

  private List<List<String>> steps(Requirements wanted, Path base, Path folder, Path python) {
    List<String> pinned = new ArrayList<>(wanted.options());
    pinned.addAll(List.of("-r", wanted.file().toString()));
    Optional<String> uv = SearchPath.find("uv", variables).map(Path::toString);
    return uv.isPresent()
        ? List.of(
            List.of(uv.get(), "venv", "-q", "--python", base.toString(), folder.toString()),
            words(List.of(uv.get(), "pip", "install", "-q", "--python", python.toString()), pinned))
        : List.of(
            List.of(base.toString(), "-m", "venv", folder.toString()),
            words(List.of(python.toString(), "-m", "pip", "install", "-q"), pinned));
  }

  private static List<String> words(List<String> first, List<String> more) {
    return Stream.concat(first.stream(), more.stream()).toList();
  }

  private void make(
      Requirements wanted, Path folder, Path python, List<List<String>> steps, Duration left)
      throws IOException {
    if (Files.isExecutable(python) && CompletionMarker.isWhole(folder)) {
      return; // The process that was waited for has made it.
    }
    say.accept("making the environment %s in %s".formatted(wanted.name(), folder));
    FileTree.delete(folder);
    Map<String, String> all = new HashMap<>(variables);
    all.put("UV_PYTHON_DOWNLOADS", "never");
    for (List<String> step : steps) {
      String what = "'%s' of %s".formatted(String.join(" ", step.subList(0, 3)), wanted.name());
      switch (run(step, all, left)) {
        case BoundedProgram.Exited(int code, _) when code == 0 -> {}
        case BoundedProgram.Exited(int code, String output) ->
            throw new MakingFailed("%s ended with %d: %s".formatted(what, code, output));
        case BoundedProgram.TooSlow(Duration limit, _) ->
            throw new MakingFailed("%s took more than %d s".formatted(what, limit.toSeconds()));
        case BoundedProgram.TooLarge(long bytes, _, _) ->
            throw new MakingFailed("%s had %s".formatted(what, ProgramLimits.mebibytes(bytes)));
      }
    }
    CompletionMarker.write(folder);
  }

  private static BoundedProgram.End run(
      List<String> step, Map<String, String> variables, Duration left) throws IOException {
    try {
      return BoundedProgram.run(step, variables, new ProgramLimits(left, MEMORY), _ -> {});
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", interrupted);
    }
  }
}
