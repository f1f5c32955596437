package io.troupe.engine.djl.install;

import io.troupe.base.process.SearchPath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Finds installed PyTorches: in a named place, in the environment that {@value #VARIABLE} names,
 * and where the Python of the search path imports it from.
 *
 * @param environment variables of this process
 */
public record TorchSearch(Map<String, String> environment) {
  /** The environment variable that names the PyTorch of a process. */
  public static final String VARIABLE = "TROUPE_TORCH";

  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** Finds the package without importing it, which would take seconds. */
  private static final String ASK =
      "import importlib.util as u; s = u.find_spec('torch');"
          + " print(s.submodule_search_locations[0] if s else '')";

  public TorchSearch {
    environment = Map.copyOf(environment);
  }

  /** A PyTorch and the way it was found, for the user. */
  public record Found(String how, InstalledTorch torch) {}

  /** Returns every PyTorch that is found, each once. */
  public List<Found> all(String configured) throws IOException {
    Map<Path, Found> found = new LinkedHashMap<>();
    if (!configured.isEmpty()) {
      add(found, "policy.torch", at(configured));
    }
    String named = environment.getOrDefault(VARIABLE, "");
    if (!named.isEmpty()) {
      add(found, VARIABLE, at(named));
    }
    for (String name : List.of("python3", "python")) {
      Optional<Path> python = SearchPath.find(name, environment);
      if (python.isPresent()) {
        Optional<InstalledTorch> torch = imported(python.get());
        if (torch.isPresent()) {
          add(found, python.get().toString(), torch.get());
        }
      }
    }
    return List.copyOf(found.values());
  }

  private static void add(Map<Path, Found> found, String how, InstalledTorch torch) {
    found.putIfAbsent(torch.folder(), new Found(how, torch));
  }

  /**
   * Returns the PyTorch of a place: a virtual environment, its Python, the package, or its folder
   * of libraries.
   *
   * @throws UnusableTorchException if there is none
   */
  public static InstalledTorch at(String place) throws IOException {
    Path path = Path.of(place).toAbsolutePath().normalize();
    if (!Files.exists(path)) {
      throw new UnusableTorchException(
          "%s: there is no such place on this machine; name a virtual environment with PyTorch in"
                  .formatted(place)
              + " it, or run `troupe torch list` to see what there is");
    }
    Optional<InstalledTorch> found =
        Files.isDirectory(path) ? inFolder(path) : imported(Path.of(place).toAbsolutePath());
    return found.orElseThrow(
        () ->
            new UnusableTorchException(
                "%s: PyTorch is not installed there; install it with `%s -m pip install torch`, or run `troupe torch list` to see what there is"
                    .formatted(place, python(path))));
  }

  private static String python(Path place) {
    if (Files.isRegularFile(place)) {
      return place.toString();
    }
    Path own = place.resolve("bin/python");
    return Files.isExecutable(own) ? own.toString() : "python3";
  }

  private static Optional<InstalledTorch> inFolder(Path folder) throws IOException {
    Path python = folder.resolve("bin/python");
    if (Files.isExecutable(python)) {
      Optional<InstalledTorch> imported = imported(python);
      if (imported.isPresent()) {
        return imported;
      }
    }
    for (Path candidate : candidates(folder)) {
      Optional<InstalledTorch> torch = InstalledTorch.read(candidate);
      if (torch.isPresent()) {
        return torch;
      }
    }
    return Optional.empty();
  }

  private static List<Path> candidates(Path folder) throws IOException {
    List<Path> candidates = new ArrayList<>();
    candidates.add(folder);
    candidates.add(folder.resolve("torch"));
    if (folder.getParent() != null) {
      candidates.add(folder.getParent());
    }
    if (Files.isDirectory(folder.resolve("lib"))) {
      try (Stream<Path> versions = Files.list(folder.resolve("lib"))) {
        versions
            .filter(version -> version.getFileName().toString().startsWith("python3"))
            .sorted()
            .forEach(version -> candidates.add(version.resolve("site-packages/torch")));
      }
    }
    return candidates;
  }

  /** Asks a Python where it would import PyTorch from. */
  private static Optional<InstalledTorch> imported(Path python) throws IOException {
    Process process;
    try {
      process =
          new ProcessBuilder(python.toString(), "-c", ASK)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException noProgram) {
      return Optional.empty();
    }
    try {
      process.getOutputStream().close();
      if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        return Optional.empty();
      }
      String answer =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return process.exitValue() != 0 || answer.isEmpty()
          ? Optional.empty()
          : InstalledTorch.read(Path.of(answer));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } finally {
      process.destroyForcibly();
    }
  }
}
