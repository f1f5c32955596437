package io.troupe.engine.toy;

import static io.troupe.core.Require.require;

import io.troupe.base.failure.Uninterrupted;
import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Samples the toy policy on a thread of its own, all open requests one token a turn.
 *
 * <p>The lock guards the state that threads share: the open requests, the offered weights, and
 * whether the sampler is frozen or closed. The thread that removes a request from the open requests
 * under the lock completes its stage, outside the lock: each stage therefore completes once, and a
 * caller's continuation cannot deadlock the sampler. Only the sampler's thread uses the weights in
 * use.
 */
final class ToySampler implements SamplingEngine {
  private final ToySettings settings;
  private final LogitTable model;
  private final Runnable betweenTokens;
  private final Thread thread;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<LeaseId, ToyRequest> open = new LinkedHashMap<>();
  private final List<WeightOffer> offers = new ArrayList<>();
  private boolean frozen;
  private boolean closed;

  private WeightVersion version = WeightVersion.BASE;

  /** Empty before the first load. */
  private float[] weights = {};

  /** Weights to use from the next token on. */
  private record WeightOffer(WeightSnapshot snapshot, CompletableFuture<WeightVersion> taken) {}

  /** Creates a sampler that waits after each token, to simulate a slow one. */
  ToySampler(ToySettings settings, LogitTable model, Duration tokenDelay) {
    this.settings = settings;
    this.model = model;
    this.betweenTokens = () -> awaitClosed(tokenDelay);
    this.thread = start();
  }

  /** Creates a sampler that calls back after each token, for tests that stop it there. */
  ToySampler(ToySettings settings, LogitTable model, Runnable betweenTokens) {
    this.settings = settings;
    this.model = model;
    this.betweenTokens = betweenTokens;
    this.thread = start();
  }

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
    requests.forEach(this::requireFits);
    List<ToyRequest> added = new ArrayList<>(requests.size());
    for (SampleRequest request : requests) {
      added.add(new ToyRequest(request, model, CharacterTokenizer.END_OF_SEQUENCE));
    }
    boolean refused;
    lock.lock();
    try {
      refused = closed;
      if (!refused) {
        requireNewLeases(requests);
        added.forEach(request -> open.put(request.request().lease(), request));
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
    if (refused) {
      added.forEach(request -> request.answer().completeExceptionally(closedFailure()));
    }
    List<CompletionStage<List<Completion>>> stages = new ArrayList<>(added.size());
    added.forEach(request -> stages.add(request.answer()));
    return List.copyOf(stages);
  }

  @Override
  public CompletionStage<WeightVersion> load(WeightSnapshot snapshot) {
    WeightOffer offer = new WeightOffer(snapshot, new CompletableFuture<>());
    boolean refused;
    lock.lock();
    try {
      refused = closed;
      if (!refused) {
        offers.add(offer);
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
    if (refused) {
      offer.taken.completeExceptionally(closedFailure());
    }
    return offer.taken;
  }

  @Override
  public void cancel(LeaseId lease) {
    List<ToyRequest> cancelled = new ArrayList<>();
    lock.lock();
    try {
      if (open.containsKey(lease)) {
        cancelled.add(open.remove(lease));
      }
    } finally {
      lock.unlock();
    }
    for (ToyRequest request : cancelled) {
      request
          .answer()
          .completeExceptionally(
              new CancellationException("lease %s was cancelled".formatted(lease)));
    }
  }

  @Override
  public void freeze(boolean whether) {
    lock.lock();
    try {
      frozen = whether;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (!Thread.currentThread().equals(thread)) {
      Uninterrupted.join(thread); // It ends at the next token.
    }
  }

  private Thread start() {
    return Thread.ofPlatform().name("toy-sampler").daemon().start(this::run);
  }

  private void run() {
    try {
      while (awaitWork()) {
        takeOffers();
        if (weights.length > 0) {
          step();
        }
      }
    } finally {
      failAll();
    }
  }

  /** Returns false once the sampler is closed. */
  private boolean awaitWork() {
    lock.lock();
    try {
      while (!closed && offers.isEmpty() && (frozen || open.isEmpty() || weights.length == 0)) {
        changed.awaitUninterruptibly();
      }
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  /** Moves to the newest of the offered weights, never back. */
  private void takeOffers() {
    List<WeightOffer> offered;
    lock.lock();
    try {
      offered = List.copyOf(offers);
      offers.clear();
    } finally {
      lock.unlock();
    }
    List<WeightOffer> taken = new ArrayList<>();
    for (WeightOffer offer : offered) {
      try {
        use(offer.snapshot);
        taken.add(offer);
      } catch (IllegalArgumentException foreign) {
        offer.taken.completeExceptionally(foreign);
      }
    }
    taken.forEach(offer -> offer.taken.complete(version));
  }

  private void use(WeightSnapshot snapshot) {
    float[] offered = ToySnapshots.weights(snapshot, model);
    if (weights.length == 0 || snapshot.version().compareTo(version) >= 0) {
      weights = offered;
      version = snapshot.version();
    }
  }

  /** Samples one token of every open request. */
  private void step() {
    List<ToyRequest> batch;
    lock.lock();
    try {
      batch = frozen ? List.of() : List.copyOf(open.values());
    } finally {
      lock.unlock();
    }
    for (ToyRequest request : batch) {
      request.advance(version, weights);
      if (request.finished() && removeFromOpen(request)) {
        answer(request);
      }
    }
    if (!batch.isEmpty()) {
      betweenTokens.run();
    }
  }

  private static void answer(ToyRequest request) {
    List<Completion> completions;
    try {
      completions = request.completions();
    } catch (IllegalArgumentException notFinite) {
      request.answer().completeExceptionally(notFinite);
      return;
    }
    request.answer().complete(completions);
  }

  private boolean removeFromOpen(ToyRequest request) {
    lock.lock();
    try {
      return open.remove(request.request().lease(), request);
    } finally {
      lock.unlock();
    }
  }

  private void failAll() {
    List<ToyRequest> requests;
    List<WeightOffer> offered;
    lock.lock();
    try {
      closed = true;
      requests = List.copyOf(open.values());
      open.clear();
      offered = List.copyOf(offers);
      offers.clear();
    } finally {
      lock.unlock();
    }
    requests.forEach(request -> request.answer().completeExceptionally(closedFailure()));
    offered.forEach(offer -> offer.taken.completeExceptionally(closedFailure()));
  }

  private void awaitClosed(Duration delay) {
    if (delay.isZero()) {
      return;
    }
    long end = System.nanoTime() + delay.toNanos();
    lock.lock();
    try {
      for (long left = delay.toNanos(); left > 0 && !closed; left = end - System.nanoTime()) {
        changed.await(left, TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }

  private void requireFits(SampleRequest request) {
    int most = request.prompt().length + request.settings().maxTokens();
    require(
        most <= settings.contextLength(),
        "lease %s: prompt (%d) and completion (at most %d) must fit the context of %d tokens",
        request.lease(),
        request.prompt().length,
        request.settings().maxTokens(),
        settings.contextLength());
    require(
        !request.settings().truncates()
            && !request.settings().penalises()
            && !request.settings().rawLogProbs()
            && request.settings().stops().isEmpty(),
        "lease %s: the toy policy knows no top_p, top_k, min_p, repetition_penalty, stop strings or"
            + " bare log-probabilities; leave them out, or take policy.engine djl",
        request.lease());
    for (int token : request.prompt()) {
      require(
          token >= 0 && token < model.vocabulary(),
          "lease %s: prompt token %d is no id of this policy; ids lie in [0, %d]",
          request.lease(),
          token,
          model.vocabulary() - 1);
    }
  }

  private void requireNewLeases(List<SampleRequest> requests) {
    Set<LeaseId> leases = new HashSet<>(open.keySet());
    for (SampleRequest request : requests) {
      require(
          leases.add(request.lease()),
          "lease %s is being sampled already; a lease is one request",
          request.lease());
    }
  }

  private static IllegalStateException closedFailure() {
    return new IllegalStateException("the sampler is closed");
  }
}
