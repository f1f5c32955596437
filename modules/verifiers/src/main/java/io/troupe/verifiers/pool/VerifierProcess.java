package io.troupe.verifiers.pool;

import static java.nio.charset.StandardCharsets.UTF_8;

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
 * A verifier in a process of its own: one question at a time, and a watchdog that kills it, and
 * whatever it has started, when an answer is late.
 *
 * <p>All reading and writing is done by the caller; a kill ends both, whatever the process is at.
 */
final class VerifierProcess implements AutoCloseable {
  private static final int ERRORS_KEPT = 2048;
  private static final Duration KILL_AGAIN = Duration.ofSeconds(1);

  /** For the end of a process that was killed, and what it said last; both come at once, mostly. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(5);

  /** What became of a question. */
  sealed interface Reply {
    /** A line came back in time. */
    record Line(String text) implements Reply {}

    /** Nothing came back in time; the process has been killed. */
    record Late() implements Reply {}

    /** The process ended, or broke the protocol and has been killed. */
    record Dead(String how) implements Reply {}
  }

  private final Process process;
  private final ProcessMark marked;
  private final InputStream answers;
  private final OutputStream questions;
  private final ErrorTail errors;
  private final ScheduledExecutorService watchdog;

  private VerifierProcess(Process process, ProcessMark marked, ScheduledExecutorService watchdog) {
    this.process = process;
    this.marked = marked;
    this.answers = new BufferedInputStream(process.getInputStream(), 1 << 16);
    this.questions = process.getOutputStream();
    this.errors = new ErrorTail(process.getErrorStream());
    this.watchdog = watchdog;
  }

  /**
   * Starts a process and waits until it says that it is ready.
   *
   * @throws IOException if it cannot be started, ends, says something else, or takes too long; the
   *     message holds the end of its standard error
   */
  static VerifierProcess start(
      List<String> command, Duration limit, ScheduledExecutorService watchdog) throws IOException {
    ProcessMark marked = ProcessMark.create();
    Process process = marked.put(new ProcessBuilder(command)).start();
    VerifierProcess started = new VerifierProcess(process, marked, watchdog);
    String problem =
        switch (started.within(limit, started::readLine)) {
          case Reply.Line(String line) when VerifierProtocol.isReady(line) -> "";
          case Reply.Line(String line) ->
              "its first line must be %s, and was %s"
                  .formatted(VerifierProtocol.ready(), excerpt(line));
          case Reply.Late _ -> "it was not ready within " + limit.toMillis() + " ms";
          case Reply.Dead(String how) -> how;
        };
    if (!problem.isEmpty()) {
      started.close();
      throw new IOException(
          "the verifier's process '%s' did not start: %s%s"
              .formatted(command.getFirst(), problem, started.errors.sentence()));
    }
    return started;
  }

  /** Asks, and waits for the answer for at most {@code limit}. */
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

  /** Of a question: decided by the answer or the alarm, whichever is first. */
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
                  kill(); // again, should the answer's pipe be held by what was not found before
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
      kill();
      return new Reply.Late();
    }
    if (line.isEmpty()) {
      kill();
      return new Reply.Dead(how + exitSentence() + errors.sentence());
    }
    return new Reply.Line(line.get());
  }

  /** A line without its end, or nothing at the end of the stream. */
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

  private String exitSentence() {
    try {
      return process.waitFor(LAST_WORDS.toMillis(), TimeUnit.MILLISECONDS)
          ? " (exit code %d)".formatted(process.exitValue())
          : "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  /** The process's id, for tests and messages. */
  long pid() {
    return process.pid();
  }

  static String excerpt(String line) {
    String start = line.length() <= 120 ? line : line.substring(0, 120) + "…";
    return "'" + start + "'";
  }

  private void kill() {
    // Children first: once the parent is gone, they cannot be found through it.
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    marked.kill();
  }

  @Override
  public void close() {
    kill();
  }

  /** The end of what the process writes on its standard error, read so that it never blocks. */
  private static final class ErrorTail {
    private final StringBuilder tail = new StringBuilder();
    private final Thread reader;

    ErrorTail(InputStream stream) {
      this.reader = Thread.ofVirtual().name("verifier-stderr").start(() -> drain(stream));
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
        // The process has been killed; what it had written is kept.
      }
    }

    String sentence() {
      try {
        reader.join(LAST_WORDS); // what a process says last is often the cause
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
