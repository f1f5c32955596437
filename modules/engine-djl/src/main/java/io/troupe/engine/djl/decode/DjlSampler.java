package io.troupe.engine.djl.decode;

import io.troupe.base.failure.Uninterrupted;
import io.troupe.core.completion.Completion;
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
 * The sampler: one thread that owns the weights and the KV cache, and decodes.
 *
 * <p>Between two tokens the thread handles the commands in its mailbox: it loads the newest weights
 * offered, ends cancelled groups, and admits waiting groups in order of arrival, as many as {@link
 * ComputeSettings} allows. No other thread touches the native memory, so nothing is locked; threads
 * share only the mailbox. When memory runs out, the sampler continues with a smaller budget ({@link
 * DecodeBatch}). Any other failure ends the thread, because its tensors may be half-written: all
 * open requests fail, later calls fail, and {@link #failed} completes.
 */
public final class DjlSampler implements SamplingEngine {
  private static final Logger LOG = LoggerFactory.getLogger(DjlSampler.class);

  /** The most groups that may wait; admission upstream keeps the number far below this limit. */
  private static final int WAITING_LIMIT = 1 << 16;

  private sealed interface Command {}

  private record Sample(List<SampleGroup> groups) implements Command {}

  private record Load(WeightSnapshot weights, CompletableFuture<WeightVersion> loaded)
      implements Command {}

  private record Cancel(LeaseId lease) implements Command {}

  private record Freeze(boolean frozen) implements Command {}

  private record Close() implements Command {}

  /** The weights in use. */
  private sealed interface Policy {}

  /** No weights were loaded yet. */
  private record Unknown() implements Policy {}

  private record InUse(WeightVersion version, String digest) implements Policy {}

  /** Whether the sampler still accepts commands. */
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
  private final Object livenessLock = new Object();
  private Liveness liveness = new Running(); // guarded by livenessLock

  private final CompletableFuture<String> failed = new CompletableFuture<>();

  // Only the sampler's thread uses the fields below.
  /** Commands that were received from the mailbox and are not handled yet. */
  private final Deque<Command> received = new ArrayDeque<>();

  /** Weights that were offered since the last load. */
  private final List<Load> offered = new ArrayList<>();

  /** Groups whose result is not complete, in order of arrival. */
  private final Map<LeaseId, SampleGroup> open = new LinkedHashMap<>();

  /** Open groups that have no token yet. */
  private final Deque<SampleGroup> waiting = new ArrayDeque<>();

  private Policy policy = new Unknown();

  /** The number of decode steps and loads so far. */
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
          "a sampler must not be closed from a callback of its own results, which its thread runs");
    }
    send(new Close());
    Uninterrupted.join(thread); // Native calls use memory that is freed next.
  }

  private Optional<String> refusal(SampleRequest request) {
    int length = request.prompt().length;
    if (length >= settings.contextLength()) {
      return Optional.of(
          "%s: a prompt of %d tokens leaves no room for a completion in a context of %d"
              .formatted(request.lease(), length, settings.contextLength()));
    }
    if (request.completions() > compute.decoding().rows()) {
      return Optional.of(
          "%s asks for %d completions, but decode_rows is %d; raise it or ask for fewer"
              .formatted(request.lease(), request.completions(), compute.decoding().rows()));
    }
    long tokens = DecodeBatch.maxCacheTokens(request, settings.contextLength());
    if (tokens > compute.decoding().kvTokens()) {
      return Optional.of(
          "%s may need a cache of %d tokens, but kv_tokens is %d; raise it, or ask for fewer or"
                  .formatted(request.lease(), tokens, compute.decoding().kvTokens())
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
    synchronized (livenessLock) {
      now = liveness;
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
        settings,
        tokenizer.vocabularySize(),
        compute.device(),
        compute.precision(),
        DecodeThreads.rowMultiple(compute),
        watcher);
  }

  /**
   * Handles all commands in the mailbox, and waits for one if there is nothing to decode. Returns
   * false when the sampler is to end.
   */
  private boolean receive(DecodeWeights weights, DecodeBatch batch) throws InterruptedException {
    await(batch);
    boolean running = true;
    while (!received.isEmpty()) {
      switch (received.removeFirst()) {
        case Sample(var groups) -> groups.forEach(this::offerGroup);
        case Load load -> offered.add(load);
        case Cancel(var lease) -> cancelled(lease);
        case Freeze(boolean whether) -> frozen = whether;
        case Close _ -> running = false;
      }
    }
    if (load(weights, batch) && compute.decoding().kvOnSwap() == KvOnSwap.RECOMPUTE) {
      withinMemory(batch, batch::recompute);
    }
    return running;
  }

  private void await(DecodeBatch batch) throws InterruptedException {
    if (frozen || policy instanceof Unknown || (waiting.isEmpty() && batch.isIdle())) {
      received.add(mailbox.take());
    } else if (batch.pauseMillis() > 0) {
      Command first = mailbox.poll(batch.pauseMillis(), TimeUnit.MILLISECONDS);
      if (first != null) {
        received.add(first);
      }
    }
    mailbox.drainTo(received);
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
   * Moves to the newest offered weights, unless the weights in use are newer.
   *
   * @return whether the weights in use changed
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
    if (policy instanceof Unknown && compute.decoding().batchInvariant()) {
      testInvariance(weights);
    }
    policy = next;
    progress.incrementAndGet();
    WeightVersion used = next.version;
    offered.forEach(load -> load.loaded.complete(used));
    offered.clear();
    return moves;
  }

  private void testInvariance(DecodeWeights weights) {
    try (Decoder decoder = newDecoder()) {
      if (!InvarianceSelfTest.passes(decoder, weights, compute, tokenizer)) {
        LOG.warn(
            "sampler={} batch_invariant=false reason=\"completions have other bits beside others on"
                + " this machine: troupe replay cannot sample them again\"",
            thread.getName());
      }
    }
  }

  /**
   * Loads weights; where memory has no room for them beside the cache, it frees the cache first.
   */
  private void loadWeights(WeightSnapshot snapshot, DecodeWeights weights, DecodeBatch batch) {
    try {
      weights.load(snapshot);
    } catch (TorchOutOfMemoryException shortage) {
      LOG.warn(
          "memory ran out while {} loaded weights {} ({}); it frees its cache and loads them again",
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
          "memory ran out with {} completions ({}); {} continues with a cache of {} tokens and"
              + " computes their keys and values again; lower policy.kv_tokens if this repeats",
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
    synchronized (livenessLock) {
      liveness = new Ended(reason);
      mailbox.drainTo(received);
    }
    received.forEach(command -> refuse(command, reason));
    offered.forEach(load -> refuse(load, reason));
    open.values().forEach(group -> group.fail(reason));
  }
}
