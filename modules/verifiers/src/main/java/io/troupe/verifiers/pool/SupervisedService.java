package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.AnswerPart;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.JudgedText;
import io.troupe.verifiers.ThoughtReading;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/**
 * A pool of workers of one verifier, behind a bounded queue, with a circuit breaker.
 *
 * <p>Every accepted verification is answered exactly once: by its worker, by the open circuit
 * breaker, or by the close of the pool. An operator may take single workers out of service; other
 * workers then judge their verifications.
 */
final class SupervisedService implements VerifierService {
  /** Allocated in advance, because there may be no memory for it later. */
  private static final Verdict OUT_OF_MEMORY =
      new Verdict.Unverifiable(
          Verdict.Cause.CRASH, "the verifier failed: its process has no memory left");

  private record Job(
      Prompt prompt, JudgedText completion, CompletableFuture<TimedVerdict> judgement) {}

  private static final Verdict UNFINISHED =
      new Verdict.Scored(0, "", AnswerPart.UnfinishedThought.REASON);

  private final String name;
  private final VerificationQueue<Job> queue;
  private final List<VerifierWorker> workers;
  private final List<Thread> threads = new ArrayList<>();
  private final ThoughtReading thoughts;
  private final PoolMeter meter;
  private final LongSupplier nanos;
  private final Runnable onClose;
  private volatile Optional<Job> control = Optional.empty();
  private VerifierQuarantine quarantine;
  private String lastFailure = "";
  private volatile boolean closed;

  /**
   * A pool that starts to work immediately.
   *
   * @param thoughts what the verifier is shown of an episode's answer
   * @param nanos a monotonic clock
   * @param onClose closes the resources that the workers share
   */
  SupervisedService(
      String name,
      List<? extends VerifierWorker> workers,
      PoolSettings settings,
      ThoughtReading thoughts,
      PoolMeter meter,
      LongSupplier nanos,
      Runnable onClose) {
    this.name = name;
    this.workers = List.copyOf(workers);
    this.queue = new VerificationQueue<>(settings.queue(), workers.size());
    this.thoughts = thoughts;
    this.meter = meter;
    this.nanos = nanos;
    this.onClose = onClose;
    this.quarantine =
        VerifierQuarantine.none(settings.failuresInRow(), settings.quarantine().toMillis());
    for (int i = 0; i < this.workers.size(); i++) {
      int place = i;
      threads.add(
          Thread.ofPlatform()
              .name("verifier-" + placeName(place))
              .daemon()
              .start(() -> serve(place)));
    }
  }

  @Override
  public CompletionStage<TimedVerdict> judge(Prompt prompt, String text) {
    return judge(prompt, JudgedText.of(text));
  }

  @Override
  public CompletionStage<TimedVerdict> judge(Prompt prompt, EpisodeText episode) {
    return thoughts
        .shown(episode)
        .map(shown -> judge(prompt, shown))
        .orElseGet(
            () -> {
              meter.count(UNFINISHED);
              return CompletableFuture.completedFuture(new TimedVerdict(UNFINISHED, 0));
            });
  }

  private CompletionStage<TimedVerdict> judge(Prompt prompt, JudgedText completion) {
    Job job = new Job(prompt, completion, new CompletableFuture<>());
    if (closed || !queue.offer(job)) {
      return CompletableFuture.failedFuture(
          new RejectedExecutionException(
              closed
                  ? "the verifier pool of %s is closed".formatted(name)
                  : "%d verifications by %s wait already".formatted(queue.size(), name)));
    }
    if (closed) {
      drain(); // close may have missed this job
    }
    return job.judgement();
  }

  /**
   * The loop of one worker thread. It ends with the pool only: an earlier end would lose the
   * worker's slot.
   */
  private void serve(int place) {
    while (!closed) {
      try {
        judge(place, queue.take(place));
      } catch (InterruptedException | RuntimeException | Error e) {
        lastFailure("a thread of the pool failed: " + e);
      }
    }
  }

  /** Completes the job in every case. */
  private void judge(int place, Job job) {
    if (!admitted()) {
      if (queue.done(place, job)) {
        job.judgement().complete(refused());
      }
      return;
    }
    prepare(place);
    long start = nanos.getAsLong();
    meter.started();
    TimedVerdict judgement = judgement(place, job, start);
    if (queue.done(place, job)) {
      try {
        meter.ended(judgement.verdict(), nanos.getAsLong() - start);
        recordOutcome(judgement.verdict());
      } finally {
        job.judgement().complete(judgement);
      }
    } else {
      // The job was taken from this worker: another worker judges it, and this verdict is
      // discarded.
      meter.abandoned();
      giveUp();
    }
  }

  private void prepare(int place) {
    try {
      workers.get(place).prepare();
    } catch (RuntimeException | Error defect) {
      lastFailure("a worker did not start: " + defect); // its verification fails and says more
    }
  }

  private TimedVerdict judgement(int place, Job job, long start) {
    Verdict verdict = ask(place, job.prompt(), job.completion());
    if (verdict instanceof Verdict.Scored) {
      control = Optional.of(job);
    }
    return judgement(checked(place, job, verdict), start);
  }

  private Verdict ask(int place, Prompt prompt, JudgedText completion) {
    try {
      return workers.get(place).judge(prompt, completion);
    } catch (OutOfMemoryError out) {
      return OUT_OF_MEMORY;
    } catch (Throwable defect) {
      // No verifier is expected to throw; a throw is no reason to lose a worker or to call the
      // completion wrong.
      return new Verdict.Unverifiable(Verdict.Cause.CRASH, "the verifier failed: " + defect);
    }
  }

  private TimedVerdict judgement(Verdict verdict, long start) {
    return new TimedVerdict(verdict, (nanos.getAsLong() - start) / 1e6);
  }

  /**
   * After a failure, asks the verifier about a completion that it has judged before, or about none
   * at all: if the verifier fails on that as well, the completion is not the cause.
   */
  private Verdict checked(int place, Job job, Verdict verdict) {
    if (!(verdict instanceof Verdict.Unverifiable(Verdict.Cause cause, String reason))
        || !(cause == Verdict.Cause.CRASH || cause == Verdict.Cause.TIMEOUT)) {
      return verdict;
    }
    Optional<Job> known = control;
    Verdict other =
        known.isEmpty()
            ? ask(place, job.prompt(), JudgedText.of(""))
            : ask(place, known.get().prompt(), known.get().completion());
    return other instanceof Verdict.Scored
        ? verdict
        : new Verdict.Unverifiable(Verdict.Cause.AWAY, reason);
  }

  private synchronized void lastFailure(String reason) {
    lastFailure = reason;
  }

  private synchronized void giveUp() {
    quarantine = quarantine.abandoned();
  }

  private String placeName(int place) {
    return name + "-" + (place + 1);
  }

  private synchronized boolean admitted() {
    boolean admitted = quarantine.admits(millis());
    if (admitted) {
      quarantine = quarantine.started();
    }
    return admitted;
  }

  private synchronized void recordOutcome(Verdict verdict) {
    if (verdict instanceof Verdict.Unverifiable(Verdict.Cause cause, String reason)
        && cause == Verdict.Cause.AWAY) {
      quarantine = quarantine.failed(millis());
      lastFailure = reason;
    } else {
      quarantine = quarantine.judged();
    }
  }

  private TimedVerdict refused() {
    String reason;
    synchronized (this) {
      reason =
          "%s is under quarantine after %d failures in a row, the last: %s"
              .formatted(name, quarantine.failures(), lastFailure);
    }
    Verdict verdict = new Verdict.Unverifiable(Verdict.Cause.AWAY, reason);
    meter.count(verdict);
    return new TimedVerdict(verdict, 0);
  }

  @Override
  public List<VerifierSlot> places() {
    List<VerifierSlot> places = new ArrayList<>();
    List<VerifierSlot.Doing> doing = queue.doing();
    long[] done = queue.done();
    for (int i = 0; i < doing.size(); i++) {
      places.add(new VerifierSlot(placeName(i), name, doing.get(i), done[i]));
    }
    return places;
  }

  @Override
  public Optional<String> quarantine(String place) {
    return ordered(
        place,
        number -> {
          Optional<String> refused = queue.quarantine(number);
          if (refused.isEmpty()) {
            workers.get(number).abandon();
          }
          return refused;
        });
  }

  @Override
  public Optional<String> release(String place) {
    return ordered(place, queue::release);
  }

  private Optional<String> ordered(String place, IntFunction<Optional<String>> order) {
    for (int i = 0; i < workers.size(); i++) {
      if (placeName(i).equals(place)) {
        return order.apply(i).map(why -> place + ": " + why);
      }
    }
    return Optional.of(VerifierService.noSuch(place, places()));
  }

  private long millis() {
    return nanos.getAsLong() / 1_000_000;
  }

  @Override
  public synchronized List<PoolReport> reports() {
    return List.of(meter.report(name, queue.size(), quarantine.closed()));
  }

  @Override
  public void close() {
    closed = true;
    threads.forEach(Thread::interrupt);
    workers.forEach(VerifierWorker::close);
    onClose.run();
    drain();
  }

  private void drain() {
    for (Job job : queue.drain()) {
      job.judgement()
          .complete(
              new TimedVerdict(
                  new Verdict.Unverifiable(Verdict.Cause.AWAY, "the verifier pool was closed"), 0));
    }
  }
}
