package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;

/**
 * A pool of workers of one verifier behind a bounded queue, with an error budget.
 *
 * <p>Every accepted verification is answered exactly once: by the worker that took it, by the
 * quarantine, or by the end of the pool.
 */
final class SupervisedService implements VerifierService {
  private record Job(Prompt prompt, String completion, CompletableFuture<Judgement> judgement) {}

  private final String name;
  private final BlockingQueue<Job> queue;
  private final List<Worker> workers;
  private final List<Thread> threads = new ArrayList<>();
  private final PoolMeter meter;
  private final LongSupplier nanos;
  private final Runnable onClose;
  private Quarantine quarantine;
  private String lastFailure = "";
  private volatile boolean closed;

  /**
   * A pool that works from now on.
   *
   * @param nanos a clock that never goes back
   * @param onClose ends what the workers share
   */
  SupervisedService(
      String name,
      List<? extends Worker> workers,
      PoolSettings settings,
      PoolMeter meter,
      LongSupplier nanos,
      Runnable onClose) {
    this.name = name;
    this.queue = new ArrayBlockingQueue<>(settings.queue());
    this.workers = List.copyOf(workers);
    this.meter = meter;
    this.nanos = nanos;
    this.onClose = onClose;
    this.quarantine = Quarantine.none(settings.failuresInRow(), settings.quarantine().toMillis());
    for (Worker worker : this.workers) {
      threads.add(
          Thread.ofPlatform()
              .name("verifier-" + name + "-" + threads.size())
              .daemon()
              .start(() -> serve(worker)));
    }
  }

  @Override
  public CompletionStage<Judgement> judge(Prompt prompt, String completion) {
    Job job = new Job(prompt, completion, new CompletableFuture<>());
    if (closed || !queue.offer(job)) {
      return CompletableFuture.failedFuture(
          new RejectedExecutionException(
              closed
                  ? "the verifier pool of %s is closed".formatted(name)
                  : "%d verifications by %s wait already".formatted(queue.size(), name)));
    }
    if (closed) {
      drain(); // whoever closed may have missed it
    }
    return job.judgement();
  }

  private void serve(Worker worker) {
    while (!closed) {
      Job job;
      try {
        job = queue.take();
      } catch (InterruptedException e) {
        return;
      }
      job.judgement().complete(admitted() ? judge(worker, job) : refused());
    }
  }

  private Judgement judge(Worker worker, Job job) {
    long start = nanos.getAsLong();
    meter.started();
    Verdict verdict = worker.judge(job.prompt(), job.completion());
    long took = nanos.getAsLong() - start;
    meter.ended(verdict, took);
    learn(verdict);
    return new Judgement(verdict, took / 1e6);
  }

  private synchronized boolean admitted() {
    boolean admitted = quarantine.admits(millis());
    if (admitted) {
      quarantine = quarantine.started();
    }
    return admitted;
  }

  private synchronized void learn(Verdict verdict) {
    if (verdict instanceof Verdict.Unverifiable(Verdict.Cause cause, String reason)
        && cause != Verdict.Cause.BAD_INPUT) {
      quarantine = quarantine.failed(millis());
      lastFailure = reason;
    } else {
      quarantine = quarantine.judged();
    }
  }

  private Judgement refused() {
    String reason;
    synchronized (this) {
      reason =
          "%s is under quarantine after %d failures in a row, the last: %s"
              .formatted(name, quarantine.failures(), lastFailure);
    }
    Verdict verdict = new Verdict.Unverifiable(Verdict.Cause.CRASH, reason);
    meter.count(verdict);
    return new Judgement(verdict, 0);
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
    workers.forEach(Worker::close);
    onClose.run();
    drain();
  }

  private void drain() {
    List<Job> left = new ArrayList<>();
    queue.drainTo(left);
    for (Job job : left) {
      job.judgement()
          .complete(
              new Judgement(
                  new Verdict.Unverifiable(Verdict.Cause.CRASH, "the verifier pool was closed"),
                  0));
    }
  }
}
