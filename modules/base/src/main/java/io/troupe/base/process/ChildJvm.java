package io.troupe.base.process;

import io.troupe.base.build.BuildInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The command line that runs this program in a new JVM. */
public final class ChildJvm {
  /** The main class of this program. */
  public static final String MAIN = "io.troupe.cli.Main";

  /**
   * Lifts the limit of direct memory: weights are outside the heap, and the limit is that of the
   * heap by default.
   */
  public static final String WEIGHTS_UNBOUNDED = "-XX:MaxDirectMemorySize=1t";

  private static final String OPTIONS = "TROUPE_JAVA_OPTS";

  private ChildJvm() {}

  /**
   * Returns the command line up to the program's own arguments, with the launcher's flags.
   *
   * @param heapMebibytes of the JVM
   */
  public static List<String> command(int heapMebibytes) {
    return new ArrayList<>(
        program()
            .with(JavaCommand.BASIC)
            .heap(heapMebibytes)
            .with(WEIGHTS_UNBOUNDED, JavaCommand.EXIT_WITHOUT_HEAP, JavaCommand.SERIAL_COLLECTOR)
            .with(JavaCommand.UTF8_OUTPUT)
            .with("-Dai.djl.offline=true", "-Dtroupe.home=" + BuildInfo.home())
            .with(ofTheUser())
            .words(List.of()));
  }

  /** Returns the command line of the program without options. */
  public static JavaCommand program() {
    return JavaCommand.of(MAIN);
  }

  /** Returns the options that the user gives every JVM of this program. */
  public static List<String> ofTheUser() {
    return Arrays.stream(System.getenv().getOrDefault(OPTIONS, "").split(" ", -1))
        .filter(option -> !option.isBlank())
        .toList();
  }

  /**
   * Returns the environment with the class path, which is not on the command line, so that {@code
   * ps} shows what a process is.
   */
  public static Map<String, String> environment() {
    return new HashMap<>(program().environment());
  }
}
