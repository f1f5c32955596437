package io.troupe.accelerator.host;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A stand-in for NCCL and the CUDA runtime on a host without a GPU, for tests and rehearsals: its
 * device is the host, whose ranks exchange through POSIX shared memory. It is compiled where it is
 * needed.
 */
public final class HostStandIn {
  private HostStandIn() {}

  /** Compiles the library into a folder; empty where this host has no C compiler. */
  public static Optional<Path> compile(Path folder) throws IOException, InterruptedException {
    Path source = folder.resolve("fakenccl.c");
    try (InputStream text = HostStandIn.class.getResourceAsStream("fakenccl.c")) {
      if (text == null) {
        throw new IOException("fakenccl.c is not on the class path");
      }
      Files.copy(text, source);
    }
    Path library = folder.resolve("libfakenccl.so");
    Process compiler;
    try {
      compiler =
          new ProcessBuilder(
                  "cc",
                  "-O1",
                  "-shared",
                  "-fPIC",
                  "-pthread",
                  "-o",
                  library.toString(),
                  source.toString(),
                  "-lrt")
              .redirectErrorStream(true)
              .start();
    } catch (IOException absent) {
      return Optional.empty();
    }
    String output = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!compiler.waitFor(60, TimeUnit.SECONDS) || compiler.exitValue() != 0) {
      throw new IOException("fakenccl.c does not compile: " + output);
    }
    return Optional.of(library);
  }
}
