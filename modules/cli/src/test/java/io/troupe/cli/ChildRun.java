package io.troupe.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.Announcements;
import io.troupe.base.process.JavaCommand;
import io.troupe.base.process.ProcessGroup;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * The command line in a JVM of its own, with the launcher's flags, and what it has printed so far.
 * Closing it ends the process.
 */
final class ChildRun implements AutoCloseable {
  /** Memory for the table policy, and for the decoder on PyTorch. */
  enum Size {
    TOY("-Xmx256m"),
    DJL("-Xmx512m");

    private final String heap;

    Size(String heap) {
      this.heap = heap;
    }
  }

  /**
   * Becomes its arguments, with SIGINT as an interactive shell leaves it: a background job of a
   * script, such as the whole quality gate, ignores it, and a JVM started so would, too.
   */
  private static final String WITH_INTERRUPT =
      "import os, signal, sys;"
          + " signal.signal(signal.SIGINT, signal.SIG_DFL);"
          + " os.execv(sys.argv[1], sys.argv[1:])";

  /**
   * Options of a JVM that ends before the second compiler, or a class made for every method and
   * constructor called by reflection, has repaid its time.
   */
  private static final List<String> SHORT_LIVED =
      List.of("-XX:TieredStopAtLevel=1", "-Djdk.reflect.useNativeAccessorOnly=true");

  /** Longer than a whole run takes on a machine several times slower than a present one. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** Keys that all tests share, because making some takes a second. */
  static final Path STATE = Path.of("target", "state").toAbsolutePath();

  private final Lock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<String> out = new ArrayList<>();
  private final List<String> err = new ArrayList<>();
  private final Process process;
  private final List<Thread> readers;
  private boolean ended;

  private ChildRun(Process process, boolean readOut) {
    this.process = process;
    Thread errors = reader(process.getErrorStream(), err);
    this.readers =
        readOut ? List.of(errors, reader(process.getInputStream(), out)) : List.of(errors);
    var _ = process.onExit().thenRun(() -> update(() -> ended = true));
  }

  /**
   * The surroundings of a process.
   *
   * @param prefix words before its command
   * @param options of its JVM and of those it starts
   */
  record Place(List<String> prefix, List<String> options) {
    /** This very host. */
    static final Place HERE = new Place(List.of(), List.of());
  }

  /** Starts {@code troupe ARGUMENTS...} at a place. */
  static ChildRun start(Place place, Path folder, Size size, String... arguments)
      throws IOException {
    WarmStart warm = WarmStart.get();
    List<String> options = new ArrayList<>(warm.options());
    options.addAll(place.options());
    ProcessBuilder builder = builder(folder, size, warm.classPath(), options, arguments);
    builder.command().addAll(0, place.prefix());
    return new ChildRun(builder.start(), true);
  }

  /** Starts {@code troupe ARGUMENTS...} in a working folder. */
  static ChildRun start(Path folder, Size size, String... arguments) throws IOException {
    return new ChildRun(builder(folder, size, arguments).start(), true);
  }

  /**
   * Starts {@code troupe train}, with a line of JSON for every step.
   *
   * @param settings keys and values that override those of the configuration
   */
  static ChildRun train(Path folder, Size size, String config, String... settings)
      throws IOException {
    return start(folder, size, withSettings(List.of("train", config), settings));
  }

  /** Starts the continuation of a run, as {@link #train} starts a new one. */
  static ChildRun resume(Path folder, Size size, String run, String... settings)
      throws IOException {
    return start(folder, size, withSettings(List.of("train", "--resume", run), settings));
  }

  private static String[] withSettings(List<String> command, String... settings) {
    List<String> words = new ArrayList<>(command);
    words.add("--json");
    for (String setting : settings) {
      words.addAll(List.of("--set", setting));
    }
    return words.toArray(String[]::new);
  }

  /** Starts it with something more on the class path, which makes it another build. */
  static ChildRun startWith(Path more, Path folder, Size size, String... arguments)
      throws IOException {
    WarmStart warm = WarmStart.get();
    String classPath = warm.classPath() + File.pathSeparator + more;
    return new ChildRun(builder(folder, size, classPath, warm.options(), arguments).start(), true);
  }

  /** Starts it and closes the reading end of its standard output at once. */
  static ChildRun startDeaf(Path folder, Size size, String... arguments) throws IOException {
    Process process = builder(folder, size, arguments).start();
    process.getInputStream().close();
    return new ChildRun(process, false);
  }

  private static ProcessBuilder builder(Path folder, Size size, String... arguments) {
    WarmStart warm = WarmStart.get();
    return builder(folder, size, warm.classPath(), warm.options(), arguments);
  }

  static ProcessBuilder builder(
      Path folder, Size size, String classPath, List<String> options, String... arguments) {
    List<String> command = new ArrayList<>(List.of("python3", "-c", WITH_INTERRUPT));
    command.addAll(
        new JavaCommand(classPath, Main.class.getName(), JavaCommand.BASIC)
            .with(size.heap, JavaCommand.SERIAL_COLLECTOR)
            .with(SHORT_LIVED)
            .with(JavaCommand.UTF8_OUTPUT)
            .with("-Dai.djl.offline=true")
            .with(options)
            .wordsWithClassPath(List.of(arguments)));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().put("XDG_STATE_HOME", STATE.toString());
    builder
        .environment() // of its children
        .put("TROUPE_JAVA_OPTS", String.join(" ", SHORT_LIVED) + " " + String.join(" ", options));
    return builder;
  }

  /** Waits for a line on standard error that holds a text, and returns it. */
  String awaitErr(String part) {
    awaitUntil("'%s' on standard error".formatted(part), () -> has(err, part));
    return err().stream().filter(line -> line.contains(part)).findFirst().orElseThrow();
  }

  /** Waits for its console, and returns the address. */
  String awaitConsole() {
    return awaitErr(Announcements.CONSOLE + "http")
        .replaceFirst(".*" + Announcements.CONSOLE, "")
        .trim();
  }

  /** Waits for that many lines on standard output. */
  void awaitOut(int lines) {
    awaitUntil("%d lines on standard output".formatted(lines), () -> out.size() >= lines);
  }

  /** Waits for that many lines on both streams together. */
  void awaitLines(int lines) {
    awaitUntil("%d lines".formatted(lines), () -> out.size() + err.size() >= lines);
  }

  /** Waits for its end, and for the last of its output; returns its exit code. */
  int awaitExit() {
    lock.lock();
    try {
      long left = PATIENCE.toNanos();
      while (!ended && left > 0) {
        left = changed.awaitNanos(left);
      }
      assertThat(ended).as("the process ends; %s", said()).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } finally {
      lock.unlock();
    }
    joinReaders();
    return process.exitValue();
  }

  /** Whether it is still there after this long: the way to let an arbitrary moment pass. */
  boolean survives(long millis) throws InterruptedException {
    return !process.waitFor(millis, TimeUnit.MILLISECONDS);
  }

  /** Sends a signal by its name, such as INT. */
  void signal(String name) throws IOException, InterruptedException {
    assertThat(
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor())
        .as("kill -%s", name)
        .isZero();
  }

  /** kill -9. */
  void kill() {
    process.destroyForcibly();
    awaitExit();
  }

  /** Returns the pid of the process. */
  long pid() {
    return process.pid();
  }

  /** The processes it has started. */
  List<ProcessHandle> children() {
    return children(process.toHandle());
  }

  /** The processes that a process has started, but for the guard that ends them after it. */
  static List<ProcessHandle> children(ProcessHandle process) {
    return process
        .children()
        .filter(child -> !commandLine(child).contains(ProcessGroup.GUARD))
        .toList();
  }

  /** The inference servers that it, or a process below it, has started. */
  List<ProcessHandle> servers() {
    return process
        .descendants()
        .filter(one -> commandLine(one).contains(" serve --config "))
        .toList();
  }

  private static String commandLine(ProcessHandle process) {
    return process.info().commandLine().orElse("");
  }

  List<String> out() {
    lock.lock();
    try {
      return List.copyOf(out);
    } finally {
      lock.unlock();
    }
  }

  List<String> err() {
    lock.lock();
    try {
      return List.copyOf(err);
    } finally {
      lock.unlock();
    }
  }

  /** Returns all that the process has printed, for the message of a failed assertion. */
  String said() {
    return "it said on stdout:%n%s%nand on stderr:%n%s"
        .formatted(String.join("\n", out()), String.join("\n", err()));
  }

  /** The command it says resumes the run, without the program's name. */
  String[] resumeArguments() {
    String line = awaitErr("resume troupe train --resume");
    return line.substring(line.indexOf("train --resume")).split(" ", -1);
  }

  @Override
  public void close() {
    process.destroyForcibly();
    awaitExit();
  }

  private static boolean has(List<String> lines, String part) {
    Predicate<String> holds = line -> line.contains(part);
    return lines.stream().anyMatch(holds);
  }

  private interface Check {
    boolean holds();
  }

  /** Waits until something holds of the output; fails when the process ends without it. */
  private void awaitUntil(String what, Check check) {
    if (endedWhileAwaited(check)) {
      joinReaders(); // its last words may still be on their way
    }
    assertThat(holds(check)).as("%s; %s", what, said()).isTrue();
  }

  /** Waits until it holds, the process has ended, or too much time has passed; whether it ended. */
  private boolean endedWhileAwaited(Check check) {
    lock.lock();
    try {
      long left = PATIENCE.toNanos();
      while (!check.holds() && !ended && left > 0) {
        left = changed.awaitNanos(left);
      }
      return ended;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } finally {
      lock.unlock();
    }
  }

  /** Lines may come while one looks. */
  private boolean holds(Check check) {
    lock.lock();
    try {
      return check.holds();
    } finally {
      lock.unlock();
    }
  }

  private void joinReaders() {
    for (Thread reader : readers) {
      try {
        assertThat(reader.join(PATIENCE)).as("the output ends with the process").isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private Thread reader(InputStream stream, List<String> lines) {
    return Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try (var reader = new BufferedReader(new InputStreamReader(stream, UTF_8))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                  String read = line;
                  update(() -> lines.add(read));
                }
              } catch (IOException broken) {
                throw new UncheckedIOException(broken);
              }
            });
  }

  private void update(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
