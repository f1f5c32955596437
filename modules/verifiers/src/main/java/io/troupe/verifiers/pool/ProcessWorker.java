package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.JudgedText;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;

/**
 * A worker whose verifier runs in a process. A process that is late, dies or answers malformed
 * lines costs only its current verification: the next verification gets a new process.
 */
final class ProcessWorker implements VerifierWorker {
  private static final int START_ATTEMPTS = 3;

  private final List<String> command;
  private final PoolSettings settings;
  private final ScheduledExecutorService watchdog;
  private final Runnable onRestart;
  private Optional<VerifierProcess> process = Optional.empty();

  /** The reason why {@link #prepare} started no process; the next verification has this verdict. */
  private Optional<Verdict> notStarted = Optional.empty();

  private boolean startedBefore;
  private boolean closed;
  private long seq;

  ProcessWorker(
      List<String> command,
      PoolSettings settings,
      ScheduledExecutorService watchdog,
      Runnable onRestart) {
    this.command = command;
    this.settings = settings;
    this.watchdog = watchdog;
    this.onRestart = onRestart;
  }

  /** Starts the process now, so that the first verification does not wait for the start. */
  void start() throws IOException {
    var _ = running();
  }

  @Override
  public void prepare() {
    try {
      start();
    } catch (IOException cannotStart) {
      notStarted = Optional.of(away(cannotStart));
    }
  }

  private static Verdict away(IOException cannotStart) {
    return new Verdict.Unverifiable(Verdict.Cause.AWAY, String.valueOf(cannotStart.getMessage()));
  }

  @Override
  public Verdict judge(Prompt prompt, JudgedText completion) {
    if (notStarted.isPresent()) {
      Verdict verdict = notStarted.get();
      notStarted = Optional.empty();
      return verdict;
    }
    VerifierProcess running;
    try {
      running = running();
    } catch (IOException cannotStart) {
      return away(cannotStart);
    }
    long question = ++seq;
    String line =
        VerifierProtocol.write(new VerifierProtocol.Question(question, prompt, completion));
    return switch (running.ask(line, settings.deadline())) {
      case VerifierProcess.Reply.Line(String answer) -> verdict(question, answer);
      case VerifierProcess.Reply.Late _ -> {
        replaceNext();
        yield new Verdict.Unverifiable(
            Verdict.Cause.TIMEOUT,
            "no verdict within %d ms; the verifier's process was killed"
                .formatted(settings.deadline().toMillis()));
      }
      case VerifierProcess.Reply.Dead(String how) -> {
        replaceNext();
        yield new Verdict.Unverifiable(Verdict.Cause.CRASH, "the verifier's process died: " + how);
      }
    };
  }

  private Verdict verdict(long question, String line) {
    Optional<VerifierProtocol.Answer> answer =
        VerifierProtocol.answer(line).filter(a -> a.seq() == question);
    if (answer.isPresent()) {
      return answer.get().verdict();
    }
    replaceNext();
    return new Verdict.Unverifiable(
        Verdict.Cause.CRASH,
        "the verifier's process wrote a line that is no answer to question %d: %s"
            .formatted(question, VerifierProcess.excerpt(line)));
  }

  private VerifierProcess running() throws IOException {
    synchronized (this) {
      if (closed) {
        throw new IOException("the verifier pool is closed");
      }
      if (process.isPresent()) {
        return process.get();
      }
    }
    VerifierProcess fresh = startWithBackoff();
    synchronized (this) {
      if (closed) {
        fresh.close();
        throw new IOException("the verifier pool is closed");
      }
      process = Optional.of(fresh);
    }
    if (startedBefore) {
      onRestart.run();
    }
    startedBefore = true;
    return fresh;
  }

  /**
   * Retries a start: a loaded machine may fail to start a process now and succeed a moment later.
   */
  private VerifierProcess startWithBackoff() throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return VerifierProcess.start(command, settings.startDeadline(), watchdog);
      } catch (IOException failure) {
        if (attempt == START_ATTEMPTS || isClosed()) {
          throw failure;
        }
        pause(Duration.ofMillis(100L << attempt));
      }
    }
  }

  private static void pause(Duration time) throws IOException {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a verifier's process was to be started again", e);
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private synchronized void replaceNext() {
    process.ifPresent(VerifierProcess::close);
    process = Optional.empty();
  }

  @Override
  public void abandon() {
    replaceNext();
  }

  @Override
  public synchronized void close() {
    closed = true;
    replaceNext();
  }
}
