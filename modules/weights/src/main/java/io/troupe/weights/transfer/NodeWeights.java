package io.troupe.weights.transfer;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.base.net.HostPort;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.cache.WeightCache;
import io.troupe.weights.cache.WeightCacheSettings;
import io.troupe.weights.cache.WeightRef;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A host's weights in one object: its cache, a server of it, and transfers into it. The node agent
 * has one; the process that trains publishes through it.
 */
public final class NodeWeights implements WeightProvider, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeWeights.class);
  static final ObjectMapper JSON = new ObjectMapper();

  private final ConnectionFactory endpoint;
  private final RunSecret secret;
  private final TransferSettings settings;
  private final StallWatchdog guard = new StallWatchdog();
  private final WeightCache cache;
  private final DeltaThreads threads;
  private final WeightServer server;
  private final ExecutorService transfers;
  private final BiConsumer<WeightRef, FetchOutcome> arrivals;
  private final ReentrantLock lock = new ReentrantLock();
  private Optional<PendingFetch> running = Optional.empty();
  private Optional<PendingFetch> waiting = Optional.empty();

  /** A request that has not ended. */
  private record PendingFetch(
      WeightRef ref, List<InetSocketAddress> sources, CompletableFuture<FetchOutcome> outcome) {}

  /** The request of a process of this host. */
  record FetchRequest(long version, String digest, long bytes, List<String> sources) {}

  /**
   * The answer to a request: a directory, the version that superseded it, or the reason of a
   * failure.
   */
  record FetchReply(
      String directory,
      long fetched,
      long reused,
      String supersededBy,
      long version,
      long bytes,
      String reason) {}

  private NodeWeights(
      WeightCache cache,
      ConnectionFactory endpoint,
      InetSocketAddress address,
      RunSecret secret,
      TransferSettings settings,
      BiConsumer<WeightRef, FetchOutcome> arrivals)
      throws IOException {
    this.cache = cache;
    this.arrivals = arrivals;
    this.endpoint = endpoint;
    this.secret = secret;
    this.settings = settings;
    this.transfers =
        Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().daemon().name("weights-transfer").unstarted(task));
    this.threads = new DeltaThreads(settings.threads());
    this.server =
        new WeightServer(
            endpoint, address, cache, secret, settings, guard, threads, this::onFetchRequest);
  }

  /**
   * Opens the cache and serves it.
   *
   * @param address to listen on; port 0 takes a free one
   * @throws IOException if the cache is another process's, or the address is taken
   */
  public static NodeWeights open(
      WeightCacheSettings cacheSettings,
      ConnectionFactory endpoint,
      InetSocketAddress address,
      RunSecret secret,
      TransferSettings settings)
      throws IOException {
    return open(cacheSettings, endpoint, address, secret, settings, (_, _) -> {});
  }

  /**
   * Opens weights, and reports the outcome of every transfer into the cache.
   *
   * @param arrivals called on the transfer's thread; must not block
   * @throws IOException if the cache is another process's, or the address is taken
   */
  public static NodeWeights open(
      WeightCacheSettings cacheSettings,
      ConnectionFactory endpoint,
      InetSocketAddress address,
      RunSecret secret,
      TransferSettings settings,
      BiConsumer<WeightRef, FetchOutcome> arrivals)
      throws IOException {
    WeightCache cache = WeightCache.open(cacheSettings);
    try {
      return new NodeWeights(cache, endpoint, address, secret, settings, arrivals);
    } catch (IOException failure) {
      cache.close();
      throw failure;
    }
  }

  /** Returns the address at which others find this node's weights. */
  public InetSocketAddress address() {
    return server.address();
  }

  /** Publishes weights in memory as float32: every other node can fetch them here then. Blocks. */
  public CachedVersion publish(WeightSnapshot weights, List<Path> beside) throws IOException {
    return publish(weights, beside, DType.F32);
  }

  /**
   * Publishes weights in memory: from then on every other node can fetch them here. Blocks.
   *
   * @param type of the numbers in the files
   */
  public CachedVersion publish(WeightSnapshot weights, List<Path> beside, DType type)
      throws IOException {
    return published(cache.publish(weights, beside, type));
  }

  /**
   * Publishes a directory with a model, such as a checkpoint. Blocks while it reads the files once.
   *
   * @param digest of the tensors, see {@link WeightSnapshot}
   */
  public CachedVersion publish(WeightVersion version, String digest, Path model)
      throws IOException {
    return published(cache.publish(version, digest, model));
  }

  private static CachedVersion published(CachedVersion version) {
    LOG.info(
        "event=weights_published version={} digest={} bytes={} directory={}",
        version.ref().version(),
        version.ref().shortDigest(),
        version.ref().bytes(),
        version.directory());
    return version;
  }

  /** Returns the versions that are here, the oldest first. */
  public List<CachedVersion> versions() {
    return cache.versions();
  }

  @Override
  public CompletionStage<FetchOutcome> fetch(WeightRef ref, List<InetSocketAddress> sources) {
    Optional<CachedVersion> here = cache.find(ref);
    if (here.isPresent()) {
      return CompletableFuture.completedFuture(
          new FetchOutcome.Ready(here.get(), FetchOutcome.TransferStats.NONE));
    }
    PendingFetch wanted = new PendingFetch(ref, List.copyOf(sources), new CompletableFuture<>());
    lock.lock();
    try {
      if (running.isEmpty()) {
        start(wanted);
        return wanted.outcome;
      }
      if (running.get().ref.equals(ref)) {
        return running.get().outcome.copy();
      }
      return queue(wanted);
    } finally {
      lock.unlock();
    }
  }

  private CompletionStage<FetchOutcome> queue(PendingFetch wanted) {
    if (waiting.isPresent()) {
      PendingFetch before = waiting.get();
      if (before.ref.equals(wanted.ref)) {
        return before.outcome.copy();
      }
      if (before.ref.version().compareTo(wanted.ref.version()) > 0) {
        return CompletableFuture.completedFuture(new FetchOutcome.Superseded(before.ref));
      }
      before.outcome.complete(new FetchOutcome.Superseded(wanted.ref));
    }
    waiting = Optional.of(wanted);
    return wanted.outcome.copy();
  }

  private void start(PendingFetch wanted) {
    try {
      transfers.execute(() -> transfer(wanted));
      running = Optional.of(wanted);
    } catch (RejectedExecutionException closed) {
      wanted.outcome.complete(
          new FetchOutcome.Failed(
              "this host takes no more weights: the run is over here",
              FetchOutcome.TransferStats.NONE));
    }
  }

  private void transfer(PendingFetch wanted) {
    FetchOutcome outcome =
        new WeightFetch(endpoint, secret, settings, guard, threads, cache, wanted.ref)
            .run(wanted.sources);
    log(wanted.ref, outcome);
    arrivals.accept(wanted.ref, outcome);
    lock.lock();
    try {
      running = Optional.empty();
      waiting.ifPresent(this::start);
      waiting = Optional.empty();
    } finally {
      lock.unlock();
    }
    wanted.outcome.complete(outcome);
  }

  private static void log(WeightRef ref, FetchOutcome outcome) {
    switch (outcome) {
      case FetchOutcome.Ready(var _, var report) ->
          LOG.info(
              "event=weights_fetched version={} digest={} fetched={} reused={} corrupt={} millis={}"
                  + " troubles={}",
              ref.version(),
              ref.shortDigest(),
              report.fetched(),
              report.reused(),
              report.corrupt(),
              report.took().toMillis(),
              report.failures());
      case FetchOutcome.Failed(var reason, var _) ->
          LOG.warn(
              "event=weights_fetch_failed version={} digest={} reason=\"{}\"",
              ref.version(),
              ref.shortDigest(),
              reason);
      case FetchOutcome.Superseded(var by) ->
          LOG.info("event=weights_superseded version={} by={}", ref.version(), by);
    }
  }

  /** Fetches for another process of this host. */
  private byte[] onFetchRequest(byte[] request) throws IOException, InterruptedException {
    FetchRequest order = JSON.readValue(request, FetchRequest.class);
    WeightRef ref = new WeightRef(new WeightVersion(order.version), order.digest, order.bytes);
    List<InetSocketAddress> sources =
        order.sources.stream().map(one -> HostPort.parse(one).socketAddress()).toList();
    try {
      return JSON.writeValueAsBytes(
          switch (fetch(ref, sources).toCompletableFuture().get()) {
            case FetchOutcome.Ready(var version, var report) ->
                new FetchReply(
                    version.directory().toAbsolutePath().toString(),
                    report.fetched(),
                    report.reused(),
                    "",
                    0,
                    0,
                    "");
            case FetchOutcome.Superseded(var by) ->
                new FetchReply("", 0, 0, by.digest(), by.version().number(), by.bytes(), "");
            case FetchOutcome.Failed(var reason, var report) ->
                new FetchReply("", report.fetched(), report.reused(), "", 0, 0, reason);
          });
    } catch (ExecutionException failure) {
      throw new IOException("the transfer ended unexpectedly", failure);
    }
  }

  /** Ends the service and deletes all weights of this host, at the end of a run. */
  public void delete() throws IOException {
    end();
    cache.delete();
  }

  /** Ends the service; whole versions stay for the next process. */
  @Override
  public void close() throws IOException {
    end();
    cache.close();
  }

  private void end() throws IOException {
    transfers.shutdownNow();
    server.close();
    guard.close();
    threads.close();
  }
}
