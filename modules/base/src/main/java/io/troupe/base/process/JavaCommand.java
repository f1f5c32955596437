package io.troupe.base.process;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The command line of a JVM that runs a class on the class path of this process.
 *
 * @param classPath of the new JVM
 * @param main name of the class
 * @param options of the JVM; a later one overrides an earlier one
 */
public record JavaCommand(String classPath, String main, List<String> options) {
  private static final int UNSOUND_MERGES = 25;

  /**
   * The options of every JVM of ours: what libraries with native code need, and no merging of
   * allocations where the second compiler does that wrongly (docs/decisions/0061).
   */
  public static final List<String> BASIC = basic(Runtime.version().feature());

  private static List<String> basic(int release) {
    List<String> options = new ArrayList<>();
    options.add("--enable-native-access=ALL-UNNAMED");
    options.add("--sun-misc-unsafe-memory-access=allow");
    if (release == UNSOUND_MERGES) { // A later one may not know the option, and would not start.
      options.add("-XX:+UnlockDiagnosticVMOptions");
      options.add("-XX:-ReduceAllocationMerges");
    }
    return List.copyOf(options);
  }

  /** The options for output in UTF-8 in every locale. */
  public static final List<String> UTF8_OUTPUT =
      List.of("-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8");

  /** The collector for small heaps, which has no threads of its own. */
  public static final String SERIAL_COLLECTOR = "-XX:+UseSerialGC";

  /**
   * Ends a JVM that has no heap left as if it had been killed, so that its parent starts it again.
   * Without this option the other threads would wait for the thread that failed.
   */
  public static final String EXIT_WITHOUT_HEAP = "-XX:+ExitOnOutOfMemoryError";

  private static final String CLASS_PATH = "CLASSPATH";

  public JavaCommand {
    options = List.copyOf(options);
  }

  /** Returns the command line of a class on the class path of this process, without options. */
  public static JavaCommand of(Class<?> main) {
    return of(main.getName());
  }

  /**
   * Returns the command line of a class that the caller knows only by name.
   *
   * @param main name of the class
   */
  public static JavaCommand of(String main) {
    return new JavaCommand(System.getProperty("java.class.path"), main, List.of());
  }

  /** Returns this command line with more options. */
  public JavaCommand with(List<String> more) {
    return new JavaCommand(
        classPath, main, Stream.concat(options.stream(), more.stream()).toList());
  }

  /** Returns this command line with more options. */
  public JavaCommand with(String... more) {
    return with(List.of(more));
  }

  /** Returns this command line with a limit of the heap. */
  public JavaCommand heap(int mebibytes) {
    return with("-Xmx%dm".formatted(mebibytes));
  }

  /** Returns this command line with more entries at the end of the class path. */
  public JavaCommand andOn(List<Path> entries) {
    return new JavaCommand(
        Stream.concat(
                Stream.of(classPath),
                entries.stream().map(entry -> entry.toAbsolutePath().toString()))
            .reduce((a, b) -> a + File.pathSeparator + b)
            .orElse(classPath),
        main,
        options);
  }

  /**
   * Returns the words of the command line. The class path is in {@link #environment} instead, so
   * that {@code ps} shows what a process is.
   *
   * @param arguments of the program
   */
  public List<String> words(List<String> arguments) {
    return words(List.of(), arguments);
  }

  /**
   * Returns the words with the class path among them, for a process whose environment the caller
   * cannot set.
   */
  public List<String> wordsWithClassPath(List<String> arguments) {
    return words(List.of("-cp", classPath), arguments);
  }

  private List<String> words(List<String> path, List<String> arguments) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return Stream.of(List.of(java), options, path, List.of(main), arguments)
        .flatMap(List::stream)
        .toList();
  }

  /** Returns the environment that {@link #words} need. */
  public Map<String, String> environment() {
    return Map.of(CLASS_PATH, classPath);
  }

  /**
   * Returns a process with these words, and with this environment added to that of this process.
   */
  public ProcessBuilder process(List<String> arguments) {
    ProcessBuilder builder = new ProcessBuilder(words(arguments));
    builder.environment().putAll(environment());
    return builder;
  }
}
