package io.troupe.engine.http.broadcast;

import static io.troupe.core.Require.require;

import io.troupe.accelerator.nccl.CudaRuntime;
import io.troupe.accelerator.nccl.NcclCollective;
import io.troupe.accelerator.transfer.WeightChunks.Chunk;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;

/**
 * Sends weights from this process's GPU to inference servers. All native calls are made by one
 * thread: a thread has one device, and two groups at work on one GPU could deadlock.
 *
 * <p>Weights of a snapshot are float32 in the host's memory. A chunk is converted to the element
 * type of the wire in pinned memory, copied to the device, and sent.
 */
public final class WeightBroadcaster implements AutoCloseable {
  private final BroadcastSettings settings;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("weight-broadcast").factory());
  private Staging staging = Staging.NONE; // of the thread

  /**
   * The settings of the broadcast of weights.
   *
   * @param libraries NCCL and the CUDA runtime
   * @param device index of this process's GPU
   * @param address of this host, as the servers reach it
   * @param element type of the elements on the wire
   * @param bufferBytes size of a packed buffer; 0 sends each tensor by itself
   * @param deadline of joining a group, and of each chunk
   */
  public record BroadcastSettings(
      NcclCollective.Libraries libraries,
      int device,
      InetAddress address,
      Span.Element element,
      long bufferBytes,
      Duration deadline) {
    /** Checks the element type and the size. */
    public BroadcastSettings {
      require(
          element == Span.Element.BF16 || element == Span.Element.F32,
          "weights are sent as BF16 or F32, not %s",
          element);
      require(bufferBytes >= 0, "a buffer has 0 bytes or more, not %d", bufferBytes);
    }
  }

  /** Memory that a chunk passes through: pinned on the host, and as much on the device. */
  private record Staging(Arena arena, MemorySegment host, long device) {
    static final Staging NONE = new Staging(Arena.global(), MemorySegment.NULL, 0);

    static Staging of(CudaRuntime cuda, long bytes) {
      Arena arena = Arena.ofShared();
      MemorySegment host = arena.allocate(bytes, 4096);
      cuda.pin(host);
      return new Staging(arena, host, cuda.allocate(bytes));
    }

    void free(CudaRuntime cuda) {
      if (device != 0) {
        cuda.unpin(host);
        cuda.free(device);
        arena.close();
      }
    }
  }

  /**
   * Creates a broadcaster.
   *
   * @throws io.troupe.accelerator.nccl.AcceleratorException if there is no such device
   */
  public WeightBroadcaster(BroadcastSettings settings) {
    this.settings = settings;
    settings.libraries().cuda().setDevice(settings.device());
    var _ = thread.submit(() -> settings.libraries().cuda().setDevice(settings.device()));
  }

  BroadcastSettings settings() {
    return settings;
  }

  /** Opens the sender to one server, which is not connected yet. */
  public ServerBroadcast to(InferenceClient wire) {
    return new ServerBroadcast(this, wire);
  }

  /** Begins to do something in the thread of native calls. */
  <T> Future<T> submit(Callable<T> work) {
    return thread.submit(work);
  }

  /** Closes an aborted group in the thread of native calls, or at once where that has ended. */
  void closeLater(Collective group) {
    try {
      thread.execute(group::close);
    } catch (RejectedExecutionException ended) {
      group.close();
    }
  }

  /** Broadcasts chunks of weights, in the thread of native calls. */
  void send(Collective group, List<WeightSnapshot.Tensor> tensors, List<Chunk> chunks)
      throws RankLostException {
    CudaRuntime cuda = settings.libraries().cuda();
    long largest = chunks.stream().mapToLong(Chunk::bytes).max().orElse(0);
    if (staging.host.byteSize() < largest) {
      staging.free(cuda);
      staging = Staging.NONE;
      staging = Staging.of(cuda, largest);
    }
    for (Chunk chunk : chunks) {
      fill(tensors.subList(chunk.first(), chunk.end()));
      copyToDevice(cuda, chunk.bytes());
      group.broadcast(Span.onDevice(staging.device, chunk.bytes(), Span.Element.U8), 0);
    }
  }

  private void fill(List<WeightSnapshot.Tensor> tensors) {
    DType type = settings.element() == Span.Element.BF16 ? DType.BF16 : DType.F32;
    long at = 0;
    for (WeightSnapshot.Tensor tensor : tensors) {
      long bytes = tensor.data().byteSize() / Float.BYTES * type.bytes();
      type.fromFloats(tensor.data(), staging.host.asSlice(at, bytes));
      at += bytes;
    }
  }

  /** Copies by the default stream, whose copies from the host have been read when they return. */
  private void copyToDevice(CudaRuntime cuda, long bytes) throws RankLostException {
    cuda.copy(staging.host.address(), staging.device, bytes, MemorySegment.NULL);
    long until = System.nanoTime() + settings.deadline().toNanos();
    while (!cuda.isDone(MemorySegment.NULL)) {
      if (System.nanoTime() > until) {
        throw new RankLostException(0, "the GPU copies nothing for " + settings.deadline());
      }
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    var _ = thread.submit(() -> staging.free(settings.libraries().cuda()));
    thread.close();
  }
}
