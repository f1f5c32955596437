package io.troupe.engine.djl.install;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A PyTorch that is installed as a package of Python.
 *
 * @param folder the package, such as {@code …/site-packages/torch}
 * @param version with its build, such as {@code 2.13.0+cpu}
 * @param cuda version of CUDA it was built for, such as {@code 13.0}; empty means none
 */
public record InstalledTorch(Path folder, String version, String cuda) {
  private static final Pattern VERSION =
      Pattern.compile("__version__\\s*=\\s*['\"](\\d+\\.\\d+\\.\\d+[^'\"]*)['\"]");
  private static final Pattern CUDA =
      Pattern.compile("(?m)^cuda(?:\\s*:[^=]*)?\\s*=\\s*['\"]([^'\"]+)['\"]");
  private static final List<String> LIBRARIES = List.of("torch", "torch_cpu", "c10");

  /**
   * Reads the version file of a package folder.
   *
   * @return nothing if the folder holds no PyTorch
   */
  static Optional<InstalledTorch> read(Path folder) throws IOException {
    Path file = folder.resolve("version.py");
    if (!Files.isRegularFile(file)) {
      return Optional.empty();
    }
    String text = Files.readString(file);
    Matcher version = VERSION.matcher(text);
    if (!version.find()) {
      return Optional.empty();
    }
    Matcher cuda = CUDA.matcher(text);
    return Optional.of(
        new InstalledTorch(
            folder.toAbsolutePath().normalize(),
            version.group(1),
            cuda.find() ? cuda.group(1) : ""));
  }

  /** The version without its build, such as {@code 2.13.0}. */
  public String release() {
    return version.replaceAll("[^0-9.].*", "");
  }

  /** The folder of the native libraries. */
  public Path lib() {
    return folder.resolve("lib");
  }

  /** The folders of the C++ headers, in the order of the compiler's search. */
  List<Path> headers() {
    Path include = folder.resolve("include");
    return List.of(include, include.resolve("torch/csrc/api/include"));
  }

  /** The library whose content distinguishes this build from others of its version. */
  Path cpuLibrary() {
    return lib().resolve(System.mapLibraryName("torch_cpu"));
  }

  /** The native libraries that the binding needs and that are not there. */
  List<Path> missingLibraries() {
    return LIBRARIES.stream()
        .map(name -> lib().resolve(System.mapLibraryName(name)))
        .filter(file -> !Files.isRegularFile(file))
        .toList();
  }

  /** NVIDIA's collective library of the same environment. */
  public Optional<Path> nccl() throws IOException {
    return nvidia("libnccl.so.");
  }

  /** The CUDA runtime of the same environment. */
  public Optional<Path> cudaRuntime() throws IOException {
    return nvidia("libcudart.so.");
  }

  /** Wheels keep NVIDIA's libraries in folders beside the package, other builds in its own. */
  private Optional<Path> nvidia(String prefix) throws IOException {
    for (Path root : List.of(folder.resolveSibling("nvidia"), lib())) {
      if (Files.isDirectory(root)) {
        try (Stream<Path> files = Files.walk(root, 3)) {
          Optional<Path> found =
              files
                  .filter(file -> file.getFileName().toString().startsWith(prefix))
                  .filter(Files::isRegularFile)
                  .sorted()
                  .findFirst();
          if (found.isPresent()) {
            return found;
          }
        }
      }
    }
    return Optional.empty();
  }

  @Override
  public String toString() {
    return "PyTorch %s (%s)".formatted(version, folder);
  }
}
