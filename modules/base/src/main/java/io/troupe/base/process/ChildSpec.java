package io.troupe.base.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A process that a node agent keeps.
 *
 * @param name unique on the node
 * @param command program and arguments
 * @param environment variables beside the agent's own
 * @param folder its working folder
 * @param log where its output is added to
 */
public record ChildSpec(
    String name, List<String> command, Map<String, String> environment, Path folder, Path log) {
  public ChildSpec {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
  }
}
