package io.troupe.base.process;

import io.troupe.base.build.BuildInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How this program runs in a JVM of its own. */
public final class ChildJvm {
  /** The class of this program that a JVM starts with. */
  public static final String MAIN = "io.troupe.cli.Main";

  /** Weights lie outside the heap; without it the heap's limit would be theirs, too. */
  public static final String WEIGHTS_UNBOUNDED = "-XX:MaxDirectMemorySize=1t";

  private static final String OPTIONS = "TROUPE_JAVA_OPTS";

  private ChildJvm() {}

  /**
   * The command line up to the program's own arguments, with the flags the launcher gives.
   *
   * @param heapMebibytes of the JVM
   */
  public static List<String> command(int heapMebibytes) {
    return new ArrayList<>(
        program()
            .with(JavaCommand.NATIVE_ACCESS)
            .heap(heapMebibytes)
            .with(WEIGHTS_UNBOUNDED, JavaCommand.EXIT_WITHOUT_HEAP, JavaCommand.SERIAL_COLLECTOR)
            .with(JavaCommand.UTF8_OUTPUT)
            .with("-Dai.djl.offline=true", "-Dtroupe.home=" + BuildInfo.home())
            .with(ofTheUser())
            .words(List.of()));
  }

  /** The class of the command line, without options. */
  public static JavaCommand program() {
    return JavaCommand.of(MAIN);
  }

  private static List<String> ofTheUser() {
    return Arrays.stream(System.getenv().getOrDefault(OPTIONS, "").split(" ", -1))
        .filter(option -> !option.isBlank())
        .toList();
  }

  /** Its class path; not on the command line, so that {@code ps} shows what a process is. */
  public static Map<String, String> environment() {
    return new HashMap<>(program().environment());
  }
}
