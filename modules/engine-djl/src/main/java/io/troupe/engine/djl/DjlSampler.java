package io.troupe.engine.djl;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.djl.ComputeSettings.KvOnSwap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sampler: one thread that owns weights and cache, and decodes.
 *
 * <p>Between two tokens the thread takes what came in: weights first, then cancellations, then
 * groups, as many as {@link ComputeSettings} lets in, oldest first. Nothing else touches native
 * memory, so nothing is locked; the mailbox is the only thing threads share. A failure of the
 * native library ends the thread: what it held may be half-written, so all requests fail with it,
 * and so does every later call.
 */
final class DjlSampler implements SamplingEngine {
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
  private sealed interface Life {}

  private record Running() implements Life {}

  private record Ended(Throwable reason) implements Life {}

  private final DecoderSettings settings;
  private final ComputeSettings compute;
  private final Tokenizer tokenizer;
  private final Consumer<String> watcher;
  private final Runnable onClose;
  private final Thread thread;
  private final LinkedBlockingQueue<Command> mailbox = new LinkedBlockingQueue<>();
  private final Object ending = new Object();
  private Life life = new Running(); // guarded by ending

  // Of the sampler's thread only.
  private final Deque<SampleGroup> waiting = new ArrayDeque<>();
  private final List<SampleGroup> decoding = new ArrayList<>();
  private Policy policy = new Unknown();

  /** Room of the cache in tokens; written by the sampler's thread only. */
  private volatile long kvTokens;

  private boolean frozen;

  DjlSampler(
      DecoderSettings settings,
      ComputeSettings compute,
      Tokenizer tokenizer,
      String name,
      Consumer<String> watcher,
      Runnable onClose) {
    this.watcher = watcher;
    this.kvTokens = compute.kvTokens();
    this.settings = settings;
    this.compute = compute;
    this.tokenizer = tokenizer;
    this.onClose = onClose;
    this.thread = Thread.ofPlatform().name(name).daemon(false).unstarted(this::live);
  }

  void start() {
    thread.start();
  }

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
    List<SampleGroup> groups = requests.stream().map(SampleGroup::new).toList();
    List<SampleGroup> valid = new ArrayList<>();
    for (SampleGroup group : groups) {
      refusal(group.request())
          .ifPresentOrElse(
              reason -> group.fail(new IllegalArgumentException(reason)), () -> valid.add(group));
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
    long tokens = DecodeBatch.mostTokens(request, settings.contextLength());
    long room = kvTokens;
    if (tokens > room) {
      return Optional.of(
          "%s may need a cache of %d tokens, but kv_tokens is %d; raise it, or ask for fewer or"
                  .formatted(request.lease(), tokens, room)
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
    Life now;
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

  private static void refuse(Command command, Throwable reason) {
    switch (command) {
      case Sample(var groups) -> groups.forEach(group -> group.fail(reason));
      case Load(_, var loaded) -> loaded.completeExceptionally(reason);
      case Cancel _, Freeze _, Close _ -> {}
    }
  }

  private void live() {
    try {
      Torch.enter(compute.samplerThreads(), false);
      try (Decoder decoder = newDecoder();
          SamplingWeights weights = new SamplingWeights(decoder);
          DecodeBatch batch = new DecodeBatch(decoder, weights, compute, tokenizer)) {
        while (receive(weights, batch)) {
          if (!frozen && policy instanceof InUse(var version, _)) {
            decodeWithinMemory(batch, version);
          }
        }
      }
      end(new CancellationException("the sampler was closed"));
    } catch (InterruptedException | RuntimeException | Error failure) {
      end(new IllegalStateException("the sampler %s failed".formatted(thread.getName()), failure));
    } finally {
      onClose.run();
    }
  }

  private Decoder newDecoder() {
    return new Decoder(
        settings, tokenizer.vocabularySize(), compute.device(), compute.precision(), watcher);
  }

  /** Takes all that came in, waiting if there is nothing to decode; false when it is to end. */
  private boolean receive(SamplingWeights weights, DecodeBatch batch) throws InterruptedException {
    List<Command> commands = new ArrayList<>();
    boolean idle =
        frozen || (decoding.isEmpty() && (waiting.isEmpty() || policy instanceof Unknown));
    if (idle) {
      commands.add(mailbox.take());
    }
    mailbox.drainTo(commands);
    List<Load> loads = new ArrayList<>();
    boolean open = true;
    for (Command command : commands) {
      switch (command) {
        case Sample(var groups) -> groups.forEach(this::enqueue);
        case Load load -> loads.add(load);
        case Cancel(var lease) -> cancelled(lease);
        case Freeze(boolean whether) -> frozen = whether;
        case Close _ -> open = false;
      }
    }
    if (load(weights, loads) && compute.kvOnSwap() == KvOnSwap.RECOMPUTE) {
      batch.sweep();
      batch.recompute();
    }
    return open;
  }

  private void enqueue(SampleGroup group) {
    Set<LeaseId> held = new HashSet<>();
    waiting.forEach(other -> held.add(other.request().lease()));
    decoding.forEach(other -> held.add(other.request().lease()));
    if (held.contains(group.request().lease())) {
      group.fail(
          new IllegalArgumentException(
              "%s is already being sampled".formatted(group.request().lease())));
    } else if (waiting.size() >= WAITING_LIMIT) {
      group.fail(
          new IllegalStateException("%d groups wait already; ask later".formatted(WAITING_LIMIT)));
    } else {
      waiting.add(group);
    }
  }

  private void cancelled(LeaseId lease) {
    CancellationException reason = new CancellationException(lease + " was cancelled");
    waiting.stream().filter(g -> g.request().lease().equals(lease)).forEach(g -> g.fail(reason));
    waiting.removeIf(SampleGroup::done);
    decoding.stream().filter(g -> g.request().lease().equals(lease)).forEach(g -> g.fail(reason));
  }

  /**
   * Moves to the newest of the weights offered, unless those in use are newer.
   *
   * @return whether other weights are in use now
   */
  private boolean load(SamplingWeights weights, List<Load> loads) {
    if (loads.isEmpty()) {
      return false;
    }
    WeightSnapshot newest = loads.getFirst().weights;
    for (Load load : loads) {
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
        weights.load(newest);
      } catch (IllegalArgumentException unfit) {
        loads.forEach(load -> load.loaded.completeExceptionally(unfit));
        return false;
      }
    }
    policy = next;
    WeightVersion used = next.version;
    loads.forEach(load -> load.loaded.complete(used));
    return moves;
  }

  private void decodeWithinMemory(DecodeBatch batch, WeightVersion version) {
    try {
      decode(batch, version);
    } catch (OutOfMemoryException full) {
      int open = batch.size() + batch.parked();
      batch.takeLess(waiting, full);
      decoding.removeIf(group -> group.done() || waiting.contains(group));
      kvTokens = batch.budget();
      Torch.emptyCache(compute.device());
      LOG.warn(
          "memory ran out with {} completions ({}); {} goes on with a cache of {} tokens and reads"
              + " them again: set policy.kv_tokens to that",
          open,
          full.getMessage(),
          thread.getName(),
          kvTokens);
    }
  }

  private void decode(DecodeBatch batch, WeightVersion version) {
    batch.prepare();
    List<SampleGroup> joining = batch.admit(waiting);
    decoding.addAll(joining);
    if (!joining.isEmpty()) {
      batch.join(joining, version);
    }
    if (!batch.isEmpty()) {
      batch.step(version);
    }
    decoding.removeIf(SampleGroup::done);
  }

  private void end(Throwable reason) {
    List<Command> left = new ArrayList<>();
    synchronized (ending) {
      life = new Ended(reason);
      mailbox.drainTo(left);
    }
    left.forEach(command -> refuse(command, reason));
    waiting.forEach(group -> group.fail(reason));
    decoding.forEach(group -> group.fail(reason));
  }
}
