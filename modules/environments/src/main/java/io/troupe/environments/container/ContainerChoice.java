package io.troupe.environments.container;

import io.troupe.base.process.SearchPath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The container engine of a host: {@code auto}, the first of docker and podman that answers; {@code
 * none}; or a name or path of a program that has docker's command line.
 */
public record ContainerChoice(String name) {
  private static final String VARIABLE = "TROUPE_CONTAINERS";
  private static final Map<Path, ContainerEngine> ANSWERED = new ConcurrentHashMap<>();

  /** The choice that the environment of this process makes. */
  public static ContainerChoice ofThisHost() {
    return new ContainerChoice(System.getenv().getOrDefault(VARIABLE, "auto"));
  }

  /**
   * Returns an engine that has answered once, and has removed what ended processes left there.
   *
   * @throws ContainerException if there is none; says why, and what to do
   */
  public ContainerEngine engine() throws ContainerException {
    if (name.equals("none")) {
      throw new ContainerException("%s=none allows none".formatted(VARIABLE));
    }
    List<String> failures = new ArrayList<>();
    for (String program : name.equals("auto") ? List.of("docker", "podman") : List.of(name)) {
      Optional<Path> found = SearchPath.find(program);
      if (found.isEmpty()) {
        failures.add(program + " is not on the PATH");
        continue;
      }
      ContainerEngine known = ANSWERED.get(found.get());
      if (known != null) {
        return known;
      }
      ContainerEngine engine = new ContainerEngine(found.get());
      try {
        engine.removeOrphans();
        ANSWERED.put(found.get(), engine);
        return engine;
      } catch (IOException silent) {
        failures.add(silent.getMessage());
      }
    }
    throw new ContainerException(
        "no container engine answers (%s); install docker or podman, start its service, or name another program by %s"
            .formatted(String.join("; ", failures), VARIABLE));
  }
}
