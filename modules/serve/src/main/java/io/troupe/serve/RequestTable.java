package io.troupe.serve;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.serve.completion.SamplingJob;
import io.troupe.serve.completion.TokenStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * The requests that a server is sampling, and the operations that pause, abort and forget them.
 *
 * <p>A request is settled exactly once: by the engine or, while the pause gate still holds the
 * request, by the caller that takes it from the gate; {@link ActiveRequest#taken} records which was
 * first.
 */
final class RequestTable {
  /** The treatment of requests in flight by a pause. */
  enum PauseMode {
    /** Requests end with the tokens they have. */
    ABORT,
    /** Requests run to their normal end; then the server is paused. */
    WAIT,
    /** Requests are frozen, and continue after the pause. */
    KEEP
  }

  /** A request in flight at an engine. */
  record ActiveRequest(
      String id,
      SamplingEngine engine,
      TokenStream generation,
      List<SampleRequest> requests,
      AtomicBoolean taken) {
    long key() {
      return requests.getFirst().lease().group().number();
    }
  }

  private final Supplier<List<SamplingEngine>> engines;
  private final PauseGate gate = new PauseGate();
  private final AtomicLong leases = new AtomicLong();
  private final Map<Long, ActiveRequest> open = new ConcurrentHashMap<>();
  private final Object pausing = new Object();
  private int sampling; // guarded by this
  private boolean frozen; // guarded by this

  /**
   * An empty table.
   *
   * @param engines the engines that may sample requests from now on
   */
  RequestTable(Supplier<List<SamplingEngine>> engines) {
    this.engines = engines;
  }

  /** Starts to sample a request, immediately or once the server is resumed. */
  ActiveRequest start(SamplingJob job, SamplingEngine engine) {
    TokenStream generation = new TokenStream(job.prompts().size(), job.completions());
    List<SampleRequest> requests = new ArrayList<>();
    for (int i = 0; i < job.prompts().size(); i++) {
      requests.add(
          new SampleRequest(
              new LeaseId(new GroupId(leases.incrementAndGet()), 1),
              job.prompts().get(i),
              job.completions(),
              job.settings(),
              job.seed() + i,
              generation.listener(i)));
    }
    ActiveRequest entry =
        new ActiveRequest(job.id(), engine, generation, requests, new AtomicBoolean());
    open.put(entry.key(), entry);
    gate.runWhenOpen(() -> submit(entry));
    return entry;
  }

  private void submit(ActiveRequest entry) {
    if (!entry.taken().compareAndSet(false, true)) {
      return; // aborted or disconnected while the gate held the request
    }
    List<SampleRequest> requests = entry.requests();
    begin();
    List<CompletionStage<List<Completion>>> stages;
    try {
      stages = entry.engine().sample(requests);
    } catch (IllegalArgumentException unfit) {
      fail(entry, unfit);
      end();
      return;
    }
    AtomicInteger left = new AtomicInteger(stages.size());
    for (int i = 0; i < stages.size(); i++) {
      int prompt = i;
      var _ =
          stages
              .get(i)
              .whenComplete(
                  (completions, failure) -> {
                    if (failure == null) {
                      entry.generation().ended(prompt, completions);
                    } else {
                      entry.generation().failed(prompt, failure);
                    }
                    if (left.decrementAndGet() == 0) {
                      end();
                    }
                  });
    }
  }

  private static void fail(ActiveRequest entry, RuntimeException why) {
    for (int i = 0; i < entry.requests().size(); i++) {
      entry.generation().failed(i, why);
    }
  }

  private synchronized void begin() {
    sampling++;
  }

  private synchronized void end() {
    sampling--;
    notifyAll();
  }

  /** Removes a request from the table and cancels what the engine still samples for it. */
  void finish(ActiveRequest entry) {
    open.remove(entry.key());
    if (!entry.generation().done()) {
      cancel(entry);
    }
  }

  private static void cancel(ActiveRequest entry) {
    if (entry.taken().compareAndSet(false, true)) {
      fail(entry, new CancellationException("cancelled before it was sampled"));
    } else {
      entry.requests().forEach(request -> entry.engine().cancel(request.lease()));
    }
  }

  /**
   * Ends requests with the tokens they have.
   *
   * @param ids the clients' request ids; none means all requests
   * @return number of requests that were ended
   */
  int abort(List<String> ids) {
    int count = 0;
    for (ActiveRequest entry : open.values()) {
      if (ids.isEmpty() || ids.contains(entry.id())) {
        abort(entry);
        count++;
      }
    }
    return count;
  }

  private static void abort(ActiveRequest entry) {
    entry.generation().abort();
    cancel(entry);
  }

  /**
   * Stops sampling until the server is resumed; returns when no request is sampling.
   *
   * @throws UnsupportedOperationException if the mode is KEEP and the engine cannot be frozen
   */
  void pause(PauseMode mode) throws InterruptedException {
    switch (mode) {
      case KEEP -> awaitFrozen();
      case WAIT -> {
        gate.closeAndDrain();
        drain();
      }
      case ABORT -> {
        gate.closeAndDrain();
        List<ActiveRequest> drawn =
            open.values().stream().filter(entry -> entry.taken().get()).toList();
        drawn.forEach(RequestTable::abort);
        drain();
      }
    }
  }

  private void awaitFrozen() throws InterruptedException {
    synchronized (pausing) {
      boolean open = !gate.isShut();
      gate.closeAndDrain(); // first: a request that passes later may use an engine that was added
      // The work below runs without the lock, during the pause.
      try {
        freeze(true);
      } catch (UnsupportedOperationException cannot) {
        if (open) {
          gate.open();
        }
        throw cannot;
      }
    }
  }

  private synchronized void freeze(boolean whether) {
    if (frozen != whether) {
      engines.get().forEach(engine -> engine.freeze(whether));
      frozen = whether;
    }
  }

  private synchronized void drain() throws InterruptedException {
    while (sampling > 0) {
      wait();
    }
  }

  void resume() {
    synchronized (pausing) {
      freeze(false);
      gate.open();
    }
  }

  boolean isPaused() {
    return gate.isShut();
  }

  int waiting() {
    return gate.waiting();
  }
}
