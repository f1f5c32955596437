package io.troupe.verifiers.pool;

import io.troupe.base.process.JavaCommand;
import io.troupe.verifiers.Isolation;
import io.troupe.verifiers.ThoughtReading;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.VerifierOptions;
import io.troupe.verifiers.VerifierProvider;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.Verifiers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;

/** Opens verifier pools. */
public final class VerifierServices {
  /** The name of the verifier that runs a user's own program; see {@link #ofCommand}. */
  public static final String COMMAND = "command";

  /** The option of that verifier for the command line of the program. */
  public static final String RUN = "run";

  private VerifierServices() {}

  /**
   * Opens a pool for a specification, with the isolation that its verifier requires. One process is
   * started before this returns, and a server is reached, so that a failure is known now.
   *
   * @throws IllegalArgumentException if there is no such verifier or its options are wrong
   * @throws IOException if the verifier cannot start on this machine; the message gives cause and
   *     remedy
   */
  public static VerifierService open(VerifierSpec spec, PoolSettings settings) throws IOException {
    return open(spec, settings, spec.name());
  }

  /**
   * Opens a pool under another name, because another pool has the same verifier with other options.
   */
  public static VerifierService open(VerifierSpec spec, PoolSettings settings, String name)
      throws IOException {
    if (spec.name().equals(COMMAND)) {
      VerifierOptions options = new VerifierOptions(spec.options(), settings.workers());
      String command =
          options
              .text(RUN)
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "verifier command needs the option run, a shell command line"));
      ThoughtReading thoughts = options.thoughts(ThoughtReading.KEEP);
      options.refuseOthers(COMMAND);
      try {
        return ofCommand(name, List.of("/bin/sh", "-c", "exec " + command), settings, thoughts);
      } catch (IOException cannotStart) {
        throw new IOException(
            "verifier command: %s; correct its option run (%s), whose relative paths begin in %s"
                .formatted(cannotStart.getMessage(), command, Path.of("").toAbsolutePath()),
            cannotStart);
      }
    }
    VerifierProvider provider = Verifiers.with(spec.plugins()).named(spec.name());
    ThoughtReading thoughts =
        new VerifierOptions(spec.options(), settings.workers()).thoughts(provider.thoughts());
    // Made in any case, so that wrong options are refused before a process is started for them.
    Verifier verifier = provider.create(new VerifierOptions(spec.options(), settings.workers()));
    if (provider.isolation(spec.options()) == Isolation.PROCESS) {
      verifier.close();
      return ofCommand(name, javaCommand(spec, settings), settings, thoughts);
    }
    try {
      verifier.reach();
    } catch (IOException away) {
      verifier.close();
      throw away;
    }
    return ofVerifier(name, verifier, settings, thoughts);
  }

  /** A pool of a verifier in this process, which is shown whole completions. */
  public static VerifierService ofVerifier(String name, Verifier verifier, PoolSettings settings) {
    return ofVerifier(name, verifier, settings, ThoughtReading.KEEP);
  }

  /**
   * A pool whose workers call a verifier in this process; the verifier always returns.
   *
   * @param verifier closed with the service
   */
  static VerifierService ofVerifier(
      String name, Verifier verifier, PoolSettings settings, ThoughtReading thoughts) {
    return new SupervisedService(
        name,
        Collections.nCopies(settings.workers(), new ThreadWorker(verifier)),
        settings,
        thoughts,
        new PoolMeter(),
        System::nanoTime,
        verifier::close);
  }

  /**
   * A pool whose workers are processes of a command that answers questions on its standard input;
   * docs/verifiers.md describes the protocol.
   *
   * @throws IOException if the first process does not start
   */
  static VerifierService ofCommand(
      String name, List<String> command, PoolSettings settings, ThoughtReading thoughts)
      throws IOException {
    ScheduledExecutorService watchdog =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("verifier-watchdog-" + name).daemon().factory());
    PoolMeter meter = new PoolMeter();
    List<ProcessWorker> workers =
        Stream.generate(() -> new ProcessWorker(command, settings, watchdog, meter::restarted))
            .limit(settings.workers())
            .toList();
    try {
      workers.getFirst().start();
    } catch (IOException cannotStart) {
      watchdog.shutdownNow();
      throw cannotStart;
    }
    return new SupervisedService(
        name, workers, settings, thoughts, meter, System::nanoTime, watchdog::shutdownNow);
  }

  /** Files of this host that a command line names by absolute paths, in order. */
  public static List<Path> files(String command) {
    return Arrays.stream(command.strip().split("\\s+", -1))
        .map(word -> word.replaceAll("^['\"]|['\"]$", ""))
        .filter(word -> word.startsWith("/"))
        .map(Path::of)
        .filter(Files::isRegularFile)
        .toList();
  }

  private static List<String> javaCommand(VerifierSpec spec, PoolSettings settings) {
    return JavaCommand.of(VerifierMain.class)
        .heap(settings.heapMegabytes())
        .with(JavaCommand.SERIAL_COLLECTOR, JavaCommand.EXIT_WITHOUT_HEAP, "-Xshare:auto")
        .andOn(spec.plugins())
        .wordsWithClassPath(VerifierMain.arguments(spec));
  }
}
