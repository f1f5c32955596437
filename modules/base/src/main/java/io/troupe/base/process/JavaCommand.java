package io.troupe.base.process;

import java.io.File;
import java.nio.file.Path;
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
  /** What libraries with native code ask for. */
  public static final List<String> NATIVE_ACCESS =
      List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");

  /** Output that is read as UTF-8, whatever the locale. */
  public static final List<String> UTF8_OUTPUT =
      List.of("-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8");

  /** The collector of small heaps: it has no threads of its own. */
  public static final String SERIAL_COLLECTOR = "-XX:+UseSerialGC";

  /**
   * A JVM that has no heap left ends, as if it had been killed, and its parent starts it again. The
   * other threads would wait for the one that met the error.
   */
  public static final String EXIT_WITHOUT_HEAP = "-XX:+ExitOnOutOfMemoryError";

  private static final String CLASS_PATH = "CLASSPATH";

  public JavaCommand {
    options = List.copyOf(options);
  }

  /** A class on the class path of this process, without options. */
  public static JavaCommand of(Class<?> main) {
    return of(main.getName());
  }

  /**
   * The same for a class that the caller does not know but by name.
   *
   * @param main name of the class
   */
  public static JavaCommand of(String main) {
    return new JavaCommand(System.getProperty("java.class.path"), main, List.of());
  }

  /** The same with more options. */
  public JavaCommand with(List<String> more) {
    return new JavaCommand(
        classPath, main, Stream.concat(options.stream(), more.stream()).toList());
  }

  /** The same with more options. */
  public JavaCommand with(String... more) {
    return with(List.of(more));
  }

  /** The same with a largest heap. */
  public JavaCommand heap(int mebibytes) {
    return with("-Xmx%dm".formatted(mebibytes));
  }

  /** The same with more entries at the end of the class path. */
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
   * The words of the command line. The class path is in {@link #environment} instead, so that
   * {@code ps} shows what a process is.
   *
   * @param arguments of the program
   */
  public List<String> words(List<String> arguments) {
    return words(List.of(), arguments);
  }

  /** The same with the class path among them, for a process whose environment is not at hand. */
  public List<String> wordsWithClassPath(List<String> arguments) {
    return words(List.of("-cp", classPath), arguments);
  }

  private List<String> words(List<String> path, List<String> arguments) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return Stream.of(List.of(java), options, path, List.of(main), arguments)
        .flatMap(List::stream)
        .toList();
  }

  /** What {@link #words} need of the environment. */
  public Map<String, String> environment() {
    return Map.of(CLASS_PATH, classPath);
  }

  /** A process with these words and this environment beside the one of this process. */
  public ProcessBuilder process(List<String> arguments) {
    ProcessBuilder builder = new ProcessBuilder(words(arguments));
    builder.environment().putAll(environment());
    return builder;
  }
}
