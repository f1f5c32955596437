package io.troupe.sim.engine;

import java.util.ArrayDeque;
import java.util.Deque;

/** The trainer: one thing at a time, steps and checkpoints, in the order they are asked for. */
final class SimulatedTrainer implements CpuShares.Shared {
  private final Agenda agenda;
  private final CpuShares cpu;
  private final double threads;
  private final Deque<Work> queue = new ArrayDeque<>();
  private double leftSeconds;
  private long syncedAt;
  private long stamp;
  private long busyMicros;
  private double slowness = 1;

  private record Work(double seconds, Runnable done) {}

  SimulatedTrainer(Agenda agenda, CpuShares cpu, double threads) {
    this.agenda = agenda;
    this.cpu = cpu;
    this.threads = threads;
    cpu.register(this);
  }

  /** Does some work after what it was asked for before. */
  void work(double seconds, Runnable done) {
    queue.add(new Work(seconds, done));
    if (queue.size() == 1) {
      cpu.add(threads);
      begin();
    }
  }

  /** Forgets everything, as the death of its process does. */
  void clear() {
    sync();
    if (!queue.isEmpty()) {
      cpu.add(-threads);
    }
    queue.clear();
    stamp++;
  }

  @Override
  public void slow(double factor) {
    sync();
    slowness = factor;
    if (!queue.isEmpty()) {
      plan();
    }
  }

  long busyMicros() {
    sync();
    return busyMicros;
  }

  private void begin() {
    leftSeconds = queue.getFirst().seconds();
    syncedAt = agenda.now();
    slowness = cpu.factor();
    plan();
  }

  private void sync() {
    if (!queue.isEmpty()) {
      long passed = agenda.now() - syncedAt;
      busyMicros += passed;
      leftSeconds = Math.max(0, leftSeconds - Agenda.seconds(passed) / slowness);
    }
    syncedAt = agenda.now();
  }

  private void plan() {
    stamp++;
    agenda.at(agenda.now() + Agenda.micros(leftSeconds * slowness), this::onDone, stamp);
  }

  private void onDone(long planned) {
    if (planned != stamp) {
      return;
    }
    sync();
    Work done = queue.removeFirst();
    if (queue.isEmpty()) {
      cpu.add(-threads);
    } else {
      begin();
    }
    done.done().run();
  }
}
