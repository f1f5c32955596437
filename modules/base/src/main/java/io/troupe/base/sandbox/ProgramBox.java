package io.troupe.base.sandbox;

import static io.troupe.core.Require.require;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The sandbox of a program: the system's programs, folders that it can only read, an empty {@code
 * /tmp} of its own, and one address that it can connect to.
 *
 * @param command program and arguments
 * @param readable absolute paths of folders and files, found in the sandbox at the same place
 * @param folder that the program starts in; {@code /tmp}, or one that holds or is a readable one
 * @param socket of a Unix domain socket that connections to the port end at
 * @param port of the sandbox's loopback interface
 * @param limits of the program
 */
public record ProgramBox(
    List<String> command,
    List<Path> readable,
    Path folder,
    Path socket,
    int port,
    ProgramLimits limits) {
  private static final String SOCKET = "/run/gateway";

  /**
   * The limits of a program.
   *
   * @param memoryBytes of each process, for its data
   * @param processes at a time
   * @param fileBytes of all its files
   */
  public record ProgramLimits(long memoryBytes, int processes, long fileBytes) {
    public ProgramLimits {
      require(memoryBytes >= 1, "a program has memory, not %d bytes", memoryBytes);
      require(processes >= 1, "a program has at least one process, not %d", processes);
      require(fileBytes >= 1, "a program has room for files, not %d bytes", fileBytes);
    }
  }

  public ProgramBox {
    command = List.copyOf(command);
    readable = List.copyOf(readable);
    require(!command.isEmpty(), "a sandbox has a program");
    require(readable.stream().allMatch(Path::isAbsolute), "paths are absolute: %s", readable);
  }

  /** Options of bubblewrap. */
  List<String> mounts() {
    List<String> options = new ArrayList<>();
    options.addAll(List.of("--size", Long.toString(limits.fileBytes()), "--tmpfs", "/tmp"));
    options.addAll(List.of("--ro-bind", socket.toString(), SOCKET));
    for (Path path : readable) {
      options.addAll(List.of("--ro-bind", path.toString(), path.toString()));
    }
    return options;
  }

  /** Returns the code of the first process in the sandbox. */
  String code() {
    return SandboxSource.of(SandboxSource.class, "confine.py").text()
        + SandboxSource.of(SandboxSource.class, "program.py").text();
  }

  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    arguments.add(SOCKET);
    arguments.add(Integer.toString(port));
    arguments.add(Long.toString(limits.memoryBytes()));
    arguments.add(Integer.toString(limits.processes()));
    arguments.add(Long.toString(limits.fileBytes()));
    arguments.addAll(command);
    return arguments;
  }
}
