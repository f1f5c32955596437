package io.troupe.store.journal;

import io.troupe.base.process.JavaCommand;
import java.io.IOException;
import java.util.List;

/** A second Java process on the tests' class path, small, to be killed. */
public final class ChildJvm {
  private ChildJvm() {}

  /** Starts {@code program}'s main; its standard error goes to this process's. */
  public static Process start(Class<?> program, String... arguments) throws IOException {
    return JavaCommand.of(program)
        .heap(48)
        .with(JavaCommand.SERIAL_COLLECTOR, "-XX:TieredStopAtLevel=1", "-Xshare:auto")
        .process(List.of(arguments))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }
}
