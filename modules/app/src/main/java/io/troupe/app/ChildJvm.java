package io.troupe.app;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How this program runs in a JVM of its own. */
public final class ChildJvm {
  /** The class of this program that a JVM starts with. */
  public static final String MAIN = "io.troupe.app.Main";

  /** Weights lie outside the heap; without it the heap's limit would be theirs, too. */
  static final String WEIGHTS_UNBOUNDED = "-XX:MaxDirectMemorySize=1t";

  /**
   * A JVM that has no heap left ends, as if it had been killed, and its parent starts it again:
   * whichever thread met the error, the others would wait for it.
   */
  static final String EXIT_WITHOUT_HEAP = "-XX:+ExitOnOutOfMemoryError";

  private static final String OPTIONS = "TROUPE_JAVA_OPTS";

  private ChildJvm() {}

  /**
   * The command line up to the program's own arguments, with the flags the launcher gives.
   *
   * @param heapMebibytes of the JVM
   */
  static List<String> command(int heapMebibytes) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Xmx%dm".formatted(heapMebibytes),
            WEIGHTS_UNBOUNDED,
            EXIT_WITHOUT_HEAP,
            "-XX:+UseSerialGC",
            "-Dstdout.encoding=UTF-8",
            "-Dstderr.encoding=UTF-8",
            "-Dai.djl.offline=true",
            "-Dtroupe.home=" + Build.home()));
    Arrays.stream(System.getenv().getOrDefault(OPTIONS, "").split(" ", -1))
        .filter(option -> !option.isBlank())
        .forEach(command::add);
    command.add(MAIN);
    return command;
  }

  /** Its class path; not on the command line, so that {@code ps} shows what a process is. */
  static Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>();
    environment.put("CLASSPATH", System.getProperty("java.class.path"));
    return environment;
  }
}
