package io.troupe.engine.djl.decode;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.RequestRefusedException;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.djl.torch.TorchOutOfMemoryException;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sampler: one thread that owns weights and cache, and decodes.
 *
 * <p>Between two tokens the thread takes what came in: weights first, then cancellations, then
 * groups, as many as {@link ComputeSettings} lets in, oldest first. Nothing else touches native
 * memory, so nothing is locked; the mailbox is the only thing threads share. When memory runs out
 * the sampler goes on with less ({@link DecodeBatch}). Any other failure ends the thread: what it
 * held may be half-written, so all that was asked of it fails, later calls do, and {@link #failed}
 * completes.
 */
public final class DjlSampler implements SamplingEngine {
  private static final Logger LOG = LoggerFactory.getLogger(DjlSampler.class);

  /** Groups that may wait; admission upstream keeps far below it. */
  private static final int WAITING_LIMIT = 1 << 16;

  private sealed interface Command {}

  private record Sample(List<SampleGroup> groups) implements Command {}

  private record Load(WeightSnapshot weights, CompletableFuture<WeightVersion> loaded)
      implements Command {}

  private record Cancel(LeaseId lease) implements Command {}

  private record Freeze(boolean frozen) implements Command {}

  private record Close() implements Command {}

  /** What the sampler samples from. */
  private sealed interface Policy {}

  /** No weights came in yet. */
  private record Unknown() implements Policy {}

  private record InUse(WeightVersion version, String digest) implements Policy {}

  /** Whether calls are still taken. */
  private sealed interface Liveness {}

  private record Running() implements Liveness {}

  private record Ended(Throwable reason) implements Liveness {}

  private final DecoderSettings settings;
  private final ComputeSettings compute;
  private final Tokenizer tokenizer;
  private final Consumer<String> watcher;
  private final Runnable onClose;
  private final Thread thread;
  private final LinkedBlockingQueue<Command> mailbox = new LinkedBlockingQueue<>();
  private final Object ending = new Object();
  private Liveness life = new Running(); // guarded by ending

  private final CompletableFuture<String> failed = new CompletableFuture<>();

  // Of the sampler's thread only.
  /** Commands that were taken out of the mailbox and not carried out yet. */
  private final Deque<Command> taken = new ArrayDeque<>();

  /** Weights offered since the latest were taken. */
  private final List<Load> offered = new ArrayList<>();

  /** Groups that have no answer yet, in order of arrival. */
  private final Map<LeaseId, SampleGroup> open = new LinkedHashMap<>();

  /** Those of them that have no token yet. */
  private final Deque<SampleGroup> waiting = new ArrayDeque<>();

  private Policy policy = new Unknown();

  /** Decode steps and loads so far. */
  private final AtomicLong progress = new AtomicLong();

  private boolean frozen;

  public DjlSampler(
      DecoderSettings settings,
      ComputeSettings compute,
      Tokenizer tokenizer,
      String name,
      Consumer<String> watcher,
      Runnable onClose) {
    this.watcher = watcher;
    this.settings = settings;
    this.compute = compute;
    this.tokenizer = tokenizer;
    this.onClose = onClose;
    this.thread = Thread.ofPlatform().name(name).daemon(false).unstarted(this::runThread);
  }

  public void start() {
    thread.start();
  }

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
    List<SampleGroup> groups = requests.stream().map(SampleGroup::new).toList();
    List<SampleGroup> valid = new ArrayList<>();
    for (SampleGroup group : groups) {
      refusal(group.request())
          .ifPresentOrElse(
              reason -> group.fail(new RequestRefusedException(reason)), () -> valid.add(group));
    }
    send(new Sample(valid));
    List<CompletionStage<List<Completion>>> stages = new ArrayList<>();
    groups.forEach(group -> stages.add(group.result().minimalCompletionStage()));
    return stages;
  }

  @Override
  public CompletionStage<WeightVersion> load(WeightSnapshot weights) {
    Load load = new Load(weights, new CompletableFuture<>());
    send(load);
    return load.loaded.minimalCompletionStage();
  }

  @Override
  public void cancel(LeaseId lease) {
    send(new Cancel(lease));
  }

  @Override
  public void freeze(boolean whether) {
    send(new Freeze(whether));
  }

  @Override
  public CompletionStage<String> failed() {
    return failed.minimalCompletionStage();
  }

  @Override
  public void close() {
    if (thread.equals(Thread.currentThread())) {
      throw new IllegalStateException(
          "a sampler is not closed from a callback of its own results, which its thread runs");
    }
    send(new Close());
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException again) {
        interrupted = true; // leaving now would free memory under a running native call
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private Optional<String> refusal(SampleRequest request) {
    int length = request.prompt().length;
    if (length >= settings.contextLength()) {
      return Optional.of(
          "%s: a prompt of %d tokens leaves no room for a completion in a context of %d"
              .formatted(request.lease(), length, settings.contextLength()));
    }
    if (request.completions() > compute.decodeRows()) {
      return Optional.of(
          "%s asks for %d completions, but decode_rows is %d; raise it or ask for fewer"
              .formatted(request.lease(), request.completions(), compute.decodeRows()));
    }
    long tokens = DecodeBatch.maxCacheTokens(request, settings.contextLength());
    if (tokens > compute.kvTokens()) {
      return Optional.of(
          "%s may need a cache of %d tokens, but kv_tokens is %d; raise it, or ask for fewer or"
                  .formatted(request.lease(), tokens, compute.kvTokens())
              + " shorter completions");
    }
    for (int t = 0; t < length; t++) {
      int token = request.prompt()[t];
      if (token < 0 || token >= tokenizer.vocabularySize()) {
        return Optional.of(
            "%s: token %d of the prompt is %d; ids lie in [0, %d]"
                .formatted(request.lease(), t, token, tokenizer.vocabularySize() - 1));
      }
    }
    return Optional.empty();
  }

  private void send(Command command) {
    Liveness now;
    synchronized (ending) {
      now = life;
      if (now instanceof Running) {
        mailbox.add(command);
      }
    }
    if (now instanceof Ended(var reason)) {
      refuse(command, reason);
    }
  }

  @Override
  public long progress() {
    return progress.get();
  }

  private static void refuse(Command command, Throwable reason) {
    switch (command) {
      case Sample(var groups) -> groups.forEach(group -> group.fail(reason));
      case Load(_, var loaded) -> loaded.completeExceptionally(reason);
      case Cancel _, Freeze _, Close _ -> {}
    }
  }

  private void runThread() {
    try {
      sampleUntilClosed();
      end(new CancellationException("the sampler was closed"));
    } catch (InterruptedException | RuntimeException | Error failure) {
      fail(failure);
    } finally {
      onClose.run();
    }
  }

  private void fail(Throwable failure) {
    try {
      LOG.error("sampler={} ended", thread.getName(), failure);
      end(new IllegalStateException("%s failed: %s".formatted(thread.getName(), failure), failure));
    } finally {
      failed.complete(failure.toString());
    }
  }

  private void sampleUntilClosed() throws InterruptedException {
    Torch.enter(compute.samplerThreads(), false);
    try (Decoder decoder = newDecoder();
        DecodeWeights weights = new DecodeWeights(decoder);
        DecodeBatch batch = new DecodeBatch(decoder, weights, compute, tokenizer)) {
      while (receive(weights, batch)) {
        if (!frozen && policy instanceof InUse(var version, _)) {
          withinMemory(batch, () -> decode(batch, version));
        }
      }
    }
  }

  private Decoder newDecoder() {
    return new Decoder(
        settings, tokenizer.vocabularySize(), compute.device(), compute.precision(), watcher);
  }

  /** Takes all that came in, waiting if there is nothing to decode; false when it is to end. */
  private boolean receive(DecodeWeights weights, DecodeBatch batch) throws InterruptedException {
    await(batch);
    boolean goesOn = true;
    while (!taken.isEmpty()) {
      switch (taken.removeFirst()) {
        case Sample(var groups) -> groups.forEach(this::offerGroup);
        case Load load -> offered.add(load);
        case Cancel(var lease) -> cancelled(lease);
        case Freeze(boolean whether) -> frozen = whether;
        case Close _ -> goesOn = false;
      }
    }
    if (load(weights, batch) && compute.kvOnSwap() == KvOnSwap.RECOMPUTE) {
      withinMemory(batch, batch::recompute);
    }
    return goesOn;
  }

  private void await(DecodeBatch batch) throws InterruptedException {
    if (frozen || policy instanceof Unknown || (waiting.isEmpty() && batch.isIdle())) {
      taken.add(mailbox.take());
    } else if (batch.pauseMillis() > 0) {
      Command first = mailbox.poll(batch.pauseMillis(), TimeUnit.MILLISECONDS);
      if (first != null) {
        taken.add(first);
      }
    }
    mailbox.drainTo(taken);
  }

  private void offerGroup(SampleGroup group) {
    LeaseId lease = group.request().lease();
    if (open.containsKey(lease)) {
      group.fail(new IllegalArgumentException("%s is already being sampled".formatted(lease)));
    } else if (waiting.size() >= WAITING_LIMIT) {
      group.fail(
          new IllegalStateException("%d groups wait already; ask later".formatted(WAITING_LIMIT)));
    } else {
      open.put(lease, group);
      waiting.add(group);
    }
  }

  private void cancelled(LeaseId lease) {
    SampleGroup group = open.remove(lease);
    if (group != null) {
      group.fail(new CancellationException(lease + " was cancelled"));
      waiting.remove(group);
    }
  }

  /**
   * Moves to the newest of the weights offered, unless those in use are newer.
   *
   * @return whether other weights are in use now
   */
  private boolean load(DecodeWeights weights, DecodeBatch batch) {
    if (offered.isEmpty()) {
      return false;
    }
    WeightSnapshot newest = offered.getFirst().weights;
    for (Load load : offered) {
      if (load.weights.version().compareTo(newest.version()) >= 0) {
        newest = load.weights;
      }
    }
    boolean moves = true;
    InUse next = new InUse(newest.version(), newest.digest());
    if (policy instanceof InUse now
        && (now.version.compareTo(next.version) > 0 || now.equals(next))) {
      next = now;
      moves = false;
    } else {
      try {
        loadWeights(newest, weights, batch);
      } catch (IllegalArgumentException unfit) {
        offered.forEach(load -> load.loaded.completeExceptionally(unfit));
        offered.clear();
        return false;
      }
    }
    policy = next;
    progress.incrementAndGet();
    WeightVersion used = next.version;
    offered.forEach(load -> load.loaded.complete(used));
    offered.clear();
    return moves;
  }

  /** Takes weights over; where memory does not suffice beside the cache, without the cache. */
  private void loadWeights(WeightSnapshot snapshot, DecodeWeights weights, DecodeBatch batch) {
    try {
      weights.load(snapshot);
    } catch (TorchOutOfMemoryException shortage) {
      LOG.warn(
          "memory ran out while {} took weights {} ({}); it frees its cache and takes them again",
          thread.getName(),
          snapshot.version(),
          shortage.getMessage());
      batch.freeCache();
      Torch.emptyCache(compute.device());
      weights.load(snapshot);
    }
  }

  private void withinMemory(DecodeBatch batch, Runnable work) {
    try {
      work.run();
    } catch (TorchOutOfMemoryException shortage) {
      int completions = batch.size() + batch.preempted();
      batch.shrinkBudget(shortage);
      waiting.removeIf(SampleGroup::done);
      Torch.emptyCache(compute.device());
      LOG.warn(
          "memory ran out with {} completions ({}); {} goes on with a cache of {} tokens and reads"
              + " them again; lower policy.kv_tokens if this repeats",
          completions,
          shortage.getMessage(),
          thread.getName(),
          batch.budget());
    }
    open.values().removeIf(SampleGroup::done);
  }

  private void decode(DecodeBatch batch, WeightVersion version) {
    batch.prepare();
    batch.admit(waiting, version);
    if (batch.size() > 0) {
      batch.step(version);
      progress.incrementAndGet();
    }
  }

  private void end(Throwable reason) {
    synchronized (ending) {
      life = new Ended(reason);
      mailbox.drainTo(taken);
    }
    taken.forEach(command -> refuse(command, reason));
    offered.forEach(load -> refuse(load, reason));
    open.values().forEach(group -> group.fail(reason));
  }
}
