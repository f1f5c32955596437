package io.troupe.base.sandbox;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The interpreter of sandboxes. */
public final class SandboxPython {
  private SandboxPython() {}

  /**
   * Returns the real path of an interpreter: a shim or a link would lead nowhere in a sandbox.
   *
   * @throws SandboxUnavailableException if it is none, or is too old
   */
  public static Path find(Path python) throws SandboxUnavailableException {
    String question =
        "import os, sys; print(sys.version_info >= (3, 9), os.path.realpath(sys.executable))";
    try {
      Process process =
          new ProcessBuilder(python.toString(), "-I", "-S", "-c", question)
              .redirectErrorStream(true)
              .start();
      process.getOutputStream().close();
      String said =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (process.waitFor() == 0 && said.startsWith("True ")) {
        return Path.of(said.substring("True ".length()));
      }
      throw new SandboxUnavailableException(
          "programs need Python 3.9 or later, and %s is none (%s)".formatted(python, said));
    } catch (IOException e) {
      throw new SandboxUnavailableException(
          "programs need Python 3.9 or later, and there is no %s. Debian, as root: apt-get install python3"
              .formatted(python));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SandboxUnavailableException("interrupted while the sandbox started");
    }
  }
}
