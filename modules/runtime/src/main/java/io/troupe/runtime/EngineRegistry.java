package io.troupe.runtime;

import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.train.TrainingEngine;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Keeps track of every engine of this process, and of the one thread that drives the trainer's.
 *
 * <p>A process that exits while native code of libtorch runs dies of it. So the code that ends the
 * process closes the registry first, which returns when no engine thread is left.
 */
public final class EngineRegistry implements AutoCloseable {
  private final PolicyEngines engines;
  private final Supplier<SamplingEngine> rolloutSamplers;
  private final Consumer<SamplingEngine> onRetired;
  private final Set<SamplingEngine> samplers = new LinkedHashSet<>();
  private final Set<TrainingEngine> trainers = new LinkedHashSet<>();

  /** Drops what comes after its end: a trainer that is still at work when the process ends. */
  private final ExecutorService trainerThread =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          Thread.ofPlatform().name("trainer").daemon().factory(),
          new ThreadPoolExecutor.DiscardPolicy());

  private final CountDownLatch empty = new CountDownLatch(1);
  private boolean closed;

  private volatile String closing = "the engines";

  /** A registry whose workers sample in this process. */
  public EngineRegistry(PolicyEngines engines) {
    this(engines, engines::newSampler, _ -> {});
  }

  /**
   * A registry whose workers sample elsewhere.
   *
   * @param rolloutSamplers makes the sampler of a worker
   * @param onRetired takes a sampler whose worker has ended, before that worker's successor asks
   *     for another one, and before the sampler is closed
   */
  public EngineRegistry(
      PolicyEngines engines,
      Supplier<SamplingEngine> rolloutSamplers,
      Consumer<SamplingEngine> onRetired) {
    this.engines = engines;
    this.rolloutSamplers = rolloutSamplers;
    this.onRetired = onRetired;
  }

  /** The policy's engines. */
  public PolicyEngines engines() {
    return engines;
  }

  /** Returns the thread on which all calls of the training engine run. */
  ExecutorService trainerThread() {
    return trainerThread;
  }

  /** A new sampler of this process, registered. */
  public SamplingEngine newSampler() {
    return registered(engines::newSampler);
  }

  /** A new sampler of this process for few requests beside the training, registered. */
  SamplingEngine newLightSampler() {
    return registered(engines::newSideSampler);
  }

  /** A new sampler of a rollout worker, registered. */
  SamplingEngine newRolloutSampler() {
    return registered(rolloutSamplers);
  }

  private synchronized SamplingEngine registered(Supplier<SamplingEngine> maker) {
    refuseIfClosed();
    SamplingEngine sampler = maker.get();
    samplers.add(sampler);
    return sampler;
  }

  /** A new trainer, registered; to be called on its thread. */
  TrainingEngine newTrainer(long seed) {
    TrainingEngine trainer = engines.newTrainer(seed);
    synchronized (this) {
      trainers.add(trainer);
    }
    return trainer;
  }

  /** Closes a sampler that has no user, without making the caller wait for its thread. */
  public void closeInBackground(SamplingEngine sampler) {
    onRetired.accept(sampler);
    Thread.ofPlatform()
        .name("engine-closer")
        .daemon()
        .start(
            () -> {
              sampler.close();
              synchronized (this) {
                samplers.remove(sampler);
              }
            });
  }

  private synchronized List<SamplingEngine> openSamplers() {
    return List.copyOf(samplers);
  }

  private void refuseIfClosed() {
    if (closed) {
      throw new IllegalStateException("the engines of this process are closed");
    }
  }

  /** Whether the process ends: engines are closed, or about to be, and there are no new ones. */
  synchronized boolean isClosed() {
    return closed;
  }

  /** Ends all engines and their threads; every caller returns when all of them have ended. */
  @Override
  public void close() {
    if (beginClose()) {
      try {
        List<SamplingEngine> open = openSamplers();
        for (int i = 0; i < open.size(); i++) {
          closing = "sampler %d of %d".formatted(i + 1, open.size());
          open.get(i).close();
        }
        closing = "the trainer";
        trainerThread.execute(() -> trainers.forEach(TrainingEngine::close));
        trainerThread.close();
        closing = "the policy";
        engines.close();
      } finally {
        empty.countDown();
      }
    }
    awaitEmpty();
  }

  /** Returns the work that {@link #close} waits for at present. */
  public String closing() {
    return closing;
  }

  /**
   * {@link #close} for a process that ends in any case, and must not wait for an engine that never
   * returns.
   *
   * @return empty once all engines have ended; otherwise the one that has not by the deadline
   */
  public Optional<String> closeWithin(Duration deadline) throws InterruptedException {
    Thread.ofPlatform().name("engine-closer").daemon().start(this::close);
    return empty.await(deadline.toMillis(), TimeUnit.MILLISECONDS)
        ? Optional.empty()
        : Optional.of(closing);
  }

  private synchronized boolean beginClose() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  private void awaitEmpty() {
    boolean interrupted = false;
    while (empty.getCount() > 0) {
      try {
        empty.await();
      } catch (InterruptedException e) {
        interrupted = true; // leaving early would end the process in native code
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
