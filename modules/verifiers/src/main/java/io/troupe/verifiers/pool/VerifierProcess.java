package io.troupe.verifiers.pool;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.troupe.base.process.ProcessGroup;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A verifier in its own process: one question at a time. A watchdog kills the process and its
 * descendants when an answer is late.
 *
 * <p>The caller's thread does all reading and writing; a kill ends both, in every state of the
 * process.
 */
final class VerifierProcess implements AutoCloseable {
  private static final int ERRORS_KEPT = 2048;
  private static final Duration KILL_AGAIN = Duration.ofSeconds(1);

  /**
   * The time to wait for the exit of a killed process and for its last output; both usually arrive
   * immediately.
   */
  private static final Duration LAST_WORDS = Duration.ofSeconds(5);

  /** The result of a question. */
  sealed interface Reply {
    /** A line arrived in time. */
    record Line(String text) implements Reply {}

    /** No line arrived in time; the process was killed. */
    record Late() implements Reply {}

    /** The process ended, or broke the protocol and was killed. */
    record Dead(String how) implements Reply {}
  }

  private final ProcessGroup group;
  private final InputStream answers;
  private final OutputStream questions;
  private final ErrorTail errors;
  private final ScheduledExecutorService watchdog;

  private VerifierProcess(ProcessGroup group, ScheduledExecutorService watchdog) {
    this.group = group;
    this.answers = new BufferedInputStream(group.output(), 1 << 16);
    this.questions = group.leader().getOutputStream();
    this.errors = new ErrorTail(group.errors());
    this.watchdog = watchdog;
  }

  /**
   * Starts a process and waits until it is ready.
   *
   * @throws IOException if the process does not start, ends, writes another line, or is late; the
   *     message holds the end of its standard error
   */
  static VerifierProcess start(
      List<String> command, Duration limit, ScheduledExecutorService watchdog) throws IOException {
    VerifierProcess started =
        new VerifierProcess(ProcessGroup.start(new ProcessBuilder(command)), watchdog);
    String problem =
        switch (started.within(limit, started::readLine)) {
          case Reply.Line(String line) when VerifierProtocol.isReady(line) -> "";
          case Reply.Line(String line) ->
              "its first line must be %s, and was %s%s"
                  .formatted(VerifierProtocol.ready(), excerpt(line), started.closed().sentence());
          case Reply.Late _ ->
              "it was not ready within %d ms%s"
                  .formatted(limit.toMillis(), started.closed().sentence());
          case Reply.Dead(String how) -> how;
        };
    if (!problem.isEmpty()) {
      started.close();
      throw new IOException(
          "the verifier's process '%s' did not start: %s".formatted(command.getFirst(), problem));
    }
    return started;
  }

  /** Sends a question and waits for the answer for at most {@code limit}. */
  Reply ask(String line, Duration limit) {
    return within(
        limit,
        () -> {
          questions.write(line.getBytes(UTF_8));
          questions.write('\n');
          questions.flush();
          return readLine();
        });
  }

  /** The outcome of a question: the answer or the alarm decides it, whichever is first. */
  private enum Outcome {
    OPEN,
    ANSWERED,
    LATE
  }

  private interface Exchange {
    Optional<String> run() throws IOException;
  }

  private Reply within(Duration limit, Exchange exchange) {
    AtomicReference<Outcome> outcome = new AtomicReference<>(Outcome.OPEN);
    Future<?> alarm;
    try {
      alarm =
          watchdog.scheduleWithFixedDelay(
              () -> {
                if (outcome.compareAndSet(Outcome.OPEN, Outcome.LATE)
                    || outcome.get() == Outcome.LATE) {
                  group.kill(); // again: a process that the first kill missed may hold the pipe
                }
              },
              limit.toMillis(),
              KILL_AGAIN.toMillis(),
              TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException closed) {
      return new Reply.Dead("the verifier pool is closed");
    }
    Optional<String> line = Optional.empty();
    String how = "it ended";
    try {
      line = exchange.run();
    } catch (IOException broken) {
      how = "it ended: " + broken.getMessage();
    }
    boolean inTime = outcome.compareAndSet(Outcome.OPEN, Outcome.ANSWERED);
    alarm.cancel(false);
    if (!inTime) {
      group.kill();
      return new Reply.Late();
    }
    if (line.isEmpty()) {
      group.kill();
      return new Reply.Dead(how + exitSentence() + errors.sentence());
    }
    return new Reply.Line(line.get());
  }

  /** A line without its line end; empty at the end of the stream. */
  private Optional<String> readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(256);
    for (int b = answers.read(); b >= 0; b = answers.read()) {
      if (b == '\n') {
        return Optional.of(line.toString(UTF_8));
      }
      if (line.size() >= VerifierProtocol.LONGEST_ANSWER) {
        throw new IOException(
            "a line of its answer is longer than " + VerifierProtocol.LONGEST_ANSWER + " bytes");
      }
      line.write(b);
    }
    return Optional.empty();
  }

  /** Ends the process, so that its last output is all there. */
  private ErrorTail closed() {
    close();
    return errors;
  }

  private String exitSentence() {
    try {
      return group.leader().waitFor(LAST_WORDS.toMillis(), TimeUnit.MILLISECONDS)
          ? " (exit code %d)".formatted(group.leader().exitValue())
          : "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  static String excerpt(String line) {
    String start = line.length() <= 120 ? line : line.substring(0, 120) + "…";
    return "'" + start + "'";
  }

  @Override
  public void close() {
    group.kill();
    try {
      answers.close();
    } catch (IOException unclosed) {
      // The answers of a killed process are not read.
    }
  }

  /** The end of the process's standard error, read so that the process never blocks on it. */
  private static final class ErrorTail {
    private final StringBuilder tail = new StringBuilder();
    private final Thread reader;

    ErrorTail(InputStream stream) {
      this.reader = Thread.ofPlatform().daemon().name("verifier-stderr").start(() -> drain(stream));
    }

    private void drain(InputStream stream) {
      byte[] bytes = new byte[1024];
      try (stream) {
        for (int n = stream.read(bytes); n >= 0; n = stream.read(bytes)) {
          synchronized (tail) {
            tail.append(new String(bytes, 0, n, UTF_8));
            tail.delete(0, Math.max(0, tail.length() - ERRORS_KEPT));
          }
        }
      } catch (IOException ended) {
        // The process was killed; the output before is kept.
      }
    }

    String sentence() {
      try {
        reader.join(LAST_WORDS); // the last output often names the cause
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      synchronized (tail) {
        String text = tail.toString().strip();
        return text.isEmpty() ? "" : "; it wrote: " + text;
      }
    }
  }
}
