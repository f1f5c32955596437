package io.troupe.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs the test classes of a module that have to do with processes, sockets, threads or time, many
 * times, while every core of the machine has a busy loop as well: {@code troupe test --stress}. A
 * race that shows once in fifty runs shows here.
 */
public final class Stress {
  private static final Pattern TIMED =
      Pattern.compile(
          "\\b(Process|ProcessBuilder|ProcessHandle|ChildRun|Socket|SocketChannel|ServerSocket"
              + "|HttpServer|HttpClient|ActorTestKit|ActorSystem|Await|CountDownLatch|Thread"
              + "|ExecutorService|CompletableFuture|Duration)\\b");

  private Stress() {}

  /**
   * Runs the tests of a module; the class path is that module's.
   *
   * @param arguments folder of the module, number of rounds
   */
  public static void main(String[] arguments) throws IOException {
    Path module = Path.of(arguments[0]);
    int rounds = Integer.parseInt(arguments[1]);
    List<? extends DiscoverySelector> classes = timed(module.resolve("src/test/java"));
    for (int core = 0; core < Runtime.getRuntime().availableProcessors(); core++) {
      Thread.ofPlatform().daemon().name("load-" + core).start(Stress::load);
    }
    Launcher launcher = LauncherFactory.create();
    long failed = 0;
    for (int round = 1; round <= rounds; round++) {
      SummaryGeneratingListener listener = new SummaryGeneratingListener();
      launcher.execute(
          LauncherDiscoveryRequestBuilder.request().selectors(classes).build(), listener);
      TestExecutionSummary summary = listener.getSummary();
      failed += summary.getTotalFailureCount();
      System.out.printf(
          "%s round %d of %d: %d classes, %d tests, %d failed, %d s%n",
          module.getFileName(),
          round,
          rounds,
          classes.size(),
          summary.getTestsStartedCount(),
          summary.getTotalFailureCount(),
          (summary.getTimeFinished() - summary.getTimeStarted()) / 1000);
      summary
          .getFailures()
          .forEach(
              failure ->
                  System.out.printf(
                      "  %s: %s%n",
                      failure.getTestIdentifier().getUniqueId(), reasons(failure.getException())));
    }
    System.exit(failed == 0 ? 0 : 1);
  }

  /** A failure and its causes, on one line. */
  private static String reasons(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
        .map(Throwable::toString)
        .collect(Collectors.joining("; caused by "));
  }

  private static List<? extends DiscoverySelector> timed(Path sources) throws IOException {
    if (!Files.isDirectory(sources)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(sources)) {
      return files
          .filter(file -> file.toString().endsWith("Test.java"))
          .filter(Stress::isTimed)
          .map(file -> sources.relativize(file).toString())
          .map(name -> name.substring(0, name.length() - ".java".length()).replace('/', '.'))
          .sorted()
          .map(DiscoverySelectors::selectClass)
          .toList();
    }
  }

  private static boolean isTimed(Path source) {
    try {
      return TIMED.matcher(Files.readString(source)).find();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static void load() {
    double x = 1;
    while (x > 0) {
      x = Math.sqrt(x + 1);
    }
  }
}
