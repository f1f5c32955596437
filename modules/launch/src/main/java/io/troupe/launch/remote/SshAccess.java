package io.troupe.launch.remote;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/**
 * The program that reaches hosts.
 *
 * @param program ssh, or one in its place
 * @param options more options of it
 */
public record SshAccess(String program, List<String> options) {
  public SshAccess {
    options = List.copyOf(options);
  }

  /** A client with a new folder for its connections. */
  public SshClient open() throws IOException {
    return new SshClient(program, options, Files.createTempDirectory("troupe-ssh"));
  }
}
