package io.troupe.runtime;

import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.TrainingEngine;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Keeps track of every engine of this process, and of the one thread that drives the trainer's.
 *
 * <p>A process that exits while native code of libtorch runs dies of it. So whoever ends the
 * process closes the room first: it returns only when no engine thread is left.
 */
public final class EngineRoom implements AutoCloseable {
  private final PolicyEngines engines;
  private final Supplier<SamplingEngine> rolloutSamplers;
  private final Consumer<SamplingEngine> onRetired;
  private final Set<SamplingEngine> samplers = new LinkedHashSet<>();
  private final Set<TrainingEngine> trainers = new LinkedHashSet<>();
  private final ExecutorService trainerThread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("trainer").daemon().factory());
  private final CountDownLatch empty = new CountDownLatch(1);
  private boolean closed;

  /** A room whose workers sample in this process. */
  public EngineRoom(PolicyEngines engines) {
    this(engines, engines::newSampler, _ -> {});
  }

  /**
   * A room whose workers sample elsewhere.
   *
   * @param rolloutSamplers makes the sampler of a worker
   * @param onRetired is told of a sampler that nobody uses any more before its worker's successor
   *     asks for another, and before it is closed
   */
  public EngineRoom(
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

  /** Where all calls of the training engine run. */
  ExecutorService trainerThread() {
    return trainerThread;
  }

  /** A new sampler of this process, registered. */
  SamplingEngine newSampler() {
    return registered(engines::newSampler);
  }

  /** A new sampler of this process for few draws beside others' work, registered. */
  SamplingEngine newSideSampler() {
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

  /** Closes a sampler nobody uses any more, without making the caller wait for its thread. */
  void retireLater(SamplingEngine sampler) {
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

  private synchronized Set<SamplingEngine> openSamplers() {
    return Set.copyOf(samplers);
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

  /** Ends all engines and their threads; returns when they have ended, whoever else closes too. */
  @Override
  public void close() {
    if (closesFirst()) {
      try {
        openSamplers().forEach(SamplingEngine::close);
        trainerThread.execute(() -> trainers.forEach(TrainingEngine::close));
        trainerThread.close();
        engines.close();
      } finally {
        empty.countDown();
      }
    }
    awaitEmpty();
  }

  private synchronized boolean closesFirst() {
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
