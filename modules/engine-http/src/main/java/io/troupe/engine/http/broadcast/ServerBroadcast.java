package io.troupe.engine.http.broadcast;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.accelerator.nccl.AcceleratorException;
import io.troupe.accelerator.nccl.NcclCollective;
import io.troupe.accelerator.nccl.NcclUniqueId;
import io.troupe.accelerator.transfer.PickledUniqueId;
import io.troupe.accelerator.transfer.TcpStoreServer;
import io.troupe.accelerator.transfer.WeightChunks;
import io.troupe.base.failure.Causes;
import io.troupe.engine.http.broadcast.WeightBroadcaster.BroadcastSettings;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceClient.Response;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sender of weights to one server: a group of NCCL of this process and the server's workers,
 * and vLLM's requests around each transfer. A group that failed is aborted and never used again;
 * the server has half of the weights then, and needs a restart.
 *
 * <p>Each transfer has two sides that wait for each other: the server's answer to a request, and
 * the collective. The request is sent by a thread of its own, and its failure ends the collective.
 */
public final class ServerBroadcast implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ServerBroadcast.class);
  private static final Duration CALL = Duration.ofSeconds(60);
  private static final int WARM_UP_ELEMENTS = 1;

  private final WeightBroadcaster broadcaster;
  private final InferenceClient wire;
  private Optional<NcclCollective> group = Optional.empty(); // guarded by this

  ServerBroadcast(WeightBroadcaster broadcaster, InferenceClient wire) {
    this.broadcaster = broadcaster;
    this.wire = wire;
  }

  /** Makes a group with the server's workers unless there is one; returns why it cannot. */
  public Optional<String> connect(Capabilities can) throws InterruptedException {
    if (current().isPresent()) {
      return Optional.empty();
    }
    Response workers = wire.get("/get_world_size?include_dp=true", CALL);
    int count = workers.json().path("world_size").asInt(0);
    if (!workers.ok() || count < 1) {
      return Optional.of("it does not say how many workers it has: " + workers.fault());
    }
    BroadcastSettings settings = broadcaster.settings();
    try (TcpStoreServer store = TcpStoreServer.open(new InetSocketAddress(settings.address(), 0))) {
      NcclUniqueId id = settings.libraries().nccl().newUniqueId();
      store.put(PickledUniqueId.KEY, PickledUniqueId.of(id));
      CompletableFuture<Optional<String>> answer =
          post(
              "/init_weight_transfer_engine",
              requests(can).init(settings.address().getHostAddress(), store.port(), count + 1));
      Future<NcclCollective> joining =
          broadcaster.submit(() -> join(settings, id, count + 1, answer));
      Optional<String> failure = outcome(joining, answer);
      if (failure.isEmpty()) {
        keep(joining.resultNow());
      } else if (joining.state() == Future.State.SUCCESS) {
        end(joining.resultNow());
      }
      return failure;
    } catch (IOException port) {
      return Optional.of("no port for the rendezvous: " + port.getMessage());
    }
  }

  private static NcclCollective join(
      BroadcastSettings settings,
      NcclUniqueId id,
      int size,
      CompletableFuture<Optional<String>> answer)
      throws RankLostException {
    NcclCollective joined =
        NcclCollective.join(
            settings.libraries(), id, 0, size, settings.deadline(), () -> failed(answer));
    boolean warm = false;
    try {
      abortOnFailure(joined, answer);
      warmUp(settings, joined);
      warm = true;
      return joined;
    } finally {
      if (!warm) {
        joined.abort();
        joined.close();
      }
    }
  }

  private static void abortOnFailure(Collective group, CompletableFuture<Optional<String>> answer) {
    var _ =
        answer.thenAccept(
            failure -> {
              if (failure.isPresent()) {
                group.abort();
              }
            });
  }

  private static boolean failed(CompletableFuture<Optional<String>> answer) {
    return answer.isDone() && answer.join().isPresent();
  }

  /** Takes part in the sum of one float32 that a worker begins with. */
  private static void warmUp(BroadcastSettings settings, Collective joined)
      throws RankLostException {
    long bytes = (long) WARM_UP_ELEMENTS * Float.BYTES;
    long address = settings.libraries().cuda().allocate(bytes);
    try {
      joined.allReduce(Span.onDevice(address, bytes, Span.Element.F32));
    } finally {
      settings.libraries().cuda().free(address);
    }
  }

  /** Sends weights under their name; returns why it failed, after which there is no group. */
  public Optional<String> send(WeightSnapshot weights, String name, Capabilities can)
      throws InterruptedException {
    NcclCollective joined = current().orElseThrow();
    boolean whole = false;
    try {
      Optional<String> failure = transfer(joined, weights, name, can);
      whole = failure.isEmpty();
      return failure;
    } finally {
      if (!whole) {
        reset();
      }
    }
  }

  private Optional<String> transfer(
      NcclCollective joined, WeightSnapshot weights, String name, Capabilities can)
      throws InterruptedException {
    Optional<String> refused =
        fault(
            wire.post(
                "/start_weight_update",
                JsonFields.object().put("is_checkpoint_format", true),
                CALL));
    if (refused.isPresent()) {
      return refused;
    }
    BroadcastSettings settings = broadcaster.settings();
    List<WeightChunks.Chunk> chunks =
        WeightChunks.cut(
            weights.tensors().stream()
                .map(t -> t.data().byteSize() / Float.BYTES * settings.element().bytes())
                .toList(),
            settings.bufferBytes());
    long begun = System.nanoTime();
    CompletableFuture<Optional<String>> answer =
        post("/update_weights", requests(can).update(weights.tensors(), settings.element()));
    abortOnFailure(joined, answer);
    Future<Boolean> sending =
        broadcaster.submit(
            () -> {
              broadcaster.send(joined, weights.tensors(), chunks);
              return true;
            });
    Optional<String> failure = outcome(sending, answer);
    if (failure.isPresent()) {
      return failure;
    }
    LOG.info(
        "event=weights_broadcast server={} version={} bytes={} chunks={} seconds={}",
        wire.endpoint(),
        weights.version(),
        chunks.stream().mapToLong(WeightChunks.Chunk::bytes).sum(),
        chunks.size(),
        (System.nanoTime() - begun) / 1e9);
    return fault(
        wire.post("/finish_weight_update", JsonFields.object().put("weight_version", name), CALL));
  }

  private TransferRequests requests(Capabilities can) {
    return TransferRequests.of(can.server(), broadcaster.settings().bufferBytes());
  }

  /** Sends a request in a thread of its own; the result is the reason of a failure. */
  private CompletableFuture<Optional<String>> post(String route, JsonNode body) {
    CompletableFuture<Optional<String>> answer = new CompletableFuture<>();
    Duration limit = broadcaster.settings().deadline().multipliedBy(2);
    Thread.ofVirtual()
        .name("weight-transfer-request")
        .start(
            () -> {
              try {
                answer.complete(fault(wire.post(route, body, limit)));
              } catch (InferenceCallException | InterruptedException broken) {
                answer.complete(Optional.of(Causes.message(broken)));
              }
            });
    return answer;
  }

  /** Waits for both sides; the server's own words come first. */
  private static Optional<String> outcome(
      Future<?> collective, CompletableFuture<Optional<String>> answer)
      throws InterruptedException {
    Optional<String> ours = Optional.empty();
    try {
      var _ = collective.get();
    } catch (ExecutionException failed) {
      Throwable cause = failed.getCause();
      if (!(cause instanceof RankLostException || cause instanceof AcceleratorException)) {
        throw new IllegalStateException("the broadcast failed", cause);
      }
      ours = Optional.of(Causes.message(cause));
    }
    if (ours.isPresent()) { // the server may wait for what never comes
      return Optional.of(
          failed(answer)
              ? "%s (%s)".formatted(answer.join().orElseThrow(), ours.get())
              : ours.get());
    }
    return answer.join();
  }

  private static Optional<String> fault(Response answer) {
    return answer.ok() ? Optional.empty() : Optional.of(answer.fault().toString());
  }

  private synchronized Optional<NcclCollective> current() {
    return group;
  }

  private synchronized void keep(NcclCollective joined) {
    group = Optional.of(joined);
  }

  /** Gives the group up: the server may be another process, or has half of the weights. */
  public void reset() {
    Optional<NcclCollective> old;
    synchronized (this) {
      old = group;
      group = Optional.empty();
    }
    old.ifPresent(this::end);
  }

  private void end(NcclCollective old) {
    old.abort();
    broadcaster.closeLater(old);
  }

  @Override
  public void close() {
    reset();
  }
}
