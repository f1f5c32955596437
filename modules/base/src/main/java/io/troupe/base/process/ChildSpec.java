package io.troupe.base.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The specification of a process that a node agent keeps running.
 *
 * @param name unique on the node
 * @param command program and arguments
 * @param environment variables beside the agent's own
 * @param folder working folder
 * @param log file to which the output is appended
 */
public record ChildSpec(
    String name, List<String> command, Map<String, String> environment, Path folder, Path log) {
  public ChildSpec {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
  }
}
