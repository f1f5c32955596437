package io.troupe.accelerator.nccl;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds NCCL and the CUDA runtime where pip puts them beside PyTorch. All ranks and inference
 * servers of a group must load the same NCCL, so the environment of the servers comes first.
 */
public final class AcceleratorLibraries {
  /** The variable that names the NCCL which vLLM loads. */
  public static final String NCCL_VARIABLE = "VLLM_NCCL_SO_PATH";

  private static final String NCCL = "libnccl.so.2";
  private static final List<String> RUNTIMES = List.of("libcudart.so.13", "libcudart.so.12");

  private AcceleratorLibraries() {}

  /** The result of a search. */
  public sealed interface Search {
    /**
     * Both libraries are there.
     *
     * @param nccl file of NCCL
     * @param cudart file of the CUDA runtime
     */
    record Found(Path nccl, Path cudart) implements Search {
      /** Opens both libraries. */
      public NcclCollective.Libraries open() {
        return new NcclCollective.Libraries(NcclLibrary.open(nccl), CudaRuntime.open(cudart));
      }
    }

    /**
     * A library is missing.
     *
     * @param reason the libraries that were looked for, the places, and the next step
     */
    record Missing(String reason) implements Search {}
  }

  /**
   * Searches Python environments, in order.
   *
   * @param environments folders of virtual environments
   * @param variables of the process's environment
   */
  public static Search find(List<Path> environments, Map<String, String> variables) {
    Optional<Path> named = Optional.ofNullable(variables.get(NCCL_VARIABLE)).map(Path::of);
    if (named.isPresent() && !Files.isRegularFile(named.get())) {
      return new Search.Missing(
          "%s names %s, which is no file; name the libnccl.so.2 that the inference servers load"
              .formatted(NCCL_VARIABLE, named.get()));
    }
    Optional<Path> nccl = named.or(() -> first(environments, List.of(NCCL)));
    Optional<Path> cudart = first(environments, RUNTIMES);
    if (nccl.isPresent() && cudart.isPresent()) {
      return new Search.Found(nccl.get(), cudart.get());
    }
    return new Search.Missing(
        "no %s in %s; install vLLM or a PyTorch for CUDA there%s"
            .formatted(
                nccl.isEmpty() ? NCCL : String.join(" or ", RUNTIMES),
                environments.isEmpty()
                    ? "any Python environment (none was named)"
                    : environments.stream().map(Path::toString).collect(Collectors.joining(", ")),
                nccl.isEmpty() ? ", or set " + NCCL_VARIABLE : ""));
  }

  /** Returns the environment of a command such as {@code /opt/venv/bin/vllm}. */
  public static Optional<Path> environmentOf(Path command) {
    Optional<Path> bin = Optional.ofNullable(command.toAbsolutePath().getParent());
    return bin.filter(folder -> folder.endsWith("bin"))
        .flatMap(folder -> Optional.ofNullable(folder.getParent()))
        .filter(folder -> !packages(folder).isEmpty());
  }

  private static Optional<Path> first(List<Path> environments, List<String> names) {
    for (Path environment : environments) {
      for (Path folder : libraryFolders(environment)) {
        for (String name : names) {
          Path file = folder.resolve(name);
          if (Files.isRegularFile(file)) {
            return Optional.of(file);
          }
        }
      }
    }
    return Optional.empty();
  }

  /** Returns the folders with libraries of NVIDIA's packages, the environment's own folder last. */
  private static List<Path> libraryFolders(Path environment) {
    List<Path> folders = new ArrayList<>();
    for (Path packages : packages(environment)) {
      for (Path one : children(packages.resolve("nvidia"))) {
        folders.add(one.resolve("lib"));
      }
    }
    folders.add(environment.resolve("lib"));
    return folders;
  }

  private static List<Path> packages(Path environment) {
    List<Path> packages = new ArrayList<>();
    for (Path version : children(environment.resolve("lib"))) {
      Path site = version.resolve("site-packages");
      if (Files.isDirectory(site)) {
        packages.add(site);
      }
    }
    return packages;
  }

  private static List<Path> children(Path folder) {
    try (Stream<Path> children = Files.list(folder)) {
      return children.sorted().toList();
    } catch (IOException absent) {
      return List.of();
    }
  }
}
