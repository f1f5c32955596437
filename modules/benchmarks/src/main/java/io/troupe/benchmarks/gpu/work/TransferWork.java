package io.troupe.benchmarks.gpu.work;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.accelerator.nccl.NcclCollective;
import io.troupe.accelerator.nccl.NcclUniqueId;
import io.troupe.accelerator.transfer.PickledUniqueId;
import io.troupe.accelerator.transfer.TcpStoreServer;
import io.troupe.accelerator.transfer.WeightChunks;
import io.troupe.base.hash.Sha256;
import io.troupe.base.process.ProcessGroup;
import io.troupe.benchmarks.gpu.row.GpuMeasurement;
import io.troupe.benchmarks.gpu.row.GpuMeasurement.Bar;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuShape;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.model.WeightDecay;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.torch.TensorSpans;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Weights from the flat array of bfloat16 of an engine to a receiver in Python, with the steps of a
 * vLLM worker: chunks are slices of the array, nothing is packed.
 */
record TransferWork() implements GpuWork {
  private static final int CONTEXT = 16;
  private static final long BUFFER = 256L << 20;
  private static final long TINY_BUFFER = 64L << 10;
  private static final long SLICE = 1L << 30;
  private static final Duration DEADLINE = Duration.ofMinutes(2);
  private static final double GB = 1e9;

  @Override
  public Outcome measure(GpuSetting setting) throws IOException, InterruptedException {
    Optional<String> obstacle = NcclChoice.obstacle(setting);
    if (obstacle.isPresent()) {
      return Outcome.unmeasured(obstacle.get());
    }
    NcclChoice.allowSharing();
    Torch.load();
    Torch.enter(1, false);
    GpuShape shape = setting.shape(GpuShape.QWEN3_1_7B);
    FlatLayout layout =
        FlatLayout.of(
            DecoderLayout.of(shape.settings(CONTEXT), shape.vocabulary()), WeightDecay.MATRICES);
    try (Decoder decoder =
            new Decoder(
                shape.settings(CONTEXT),
                shape.vocabulary(),
                setting.device(),
                Precision.BFLOAT16,
                _ -> {});
        ModelWeights weights =
            ModelWeights.random(
                    layout, setting.device(), TrainingWork.SEED, shape.settings(CONTEXT).initStd())
                .turnedInto(decoder);
        DeviceClock clock = DeviceClock.of(setting)) {
      clock.await();
      Span.Device flat = TensorSpans.load().of(weights.flat(), Span.Element.BF16, layout.size());
      return sent(setting, flat, chunks(setting, layout));
    }
  }

  /** Cuts between tensors, whose padding goes with them. */
  private static List<WeightChunks.Chunk> chunks(GpuSetting setting, FlatLayout layout) {
    List<Long> starts = layout.offsets().stream().sorted().toList();
    List<Long> sizes = new ArrayList<>();
    for (int i = 0; i < starts.size(); i++) {
      long end = i + 1 < starts.size() ? starts.get(i + 1) : layout.size();
      sizes.add((end - starts.get(i)) * Short.BYTES);
    }
    return WeightChunks.cut(sizes, setting.tiny() ? TINY_BUFFER : BUFFER);
  }

  private static Outcome sent(GpuSetting setting, Span.Device flat, List<WeightChunks.Chunk> chunks)
      throws IOException, InterruptedException {
    NcclCollective.Libraries libraries = setting.libraries();
    NcclUniqueId id = libraries.nccl().newUniqueId();
    try (TcpStoreServer store = storeOf(id);
        ProcessGroup receiver = receiver(setting, store.port(), chunks)) {
      double seconds;
      try (NcclCollective group = NcclCollective.join(libraries, id, 0, 2, DEADLINE)) {
        seconds = broadcast(libraries, group, flat, chunks);
        JsonNode answer = JsonMapper.builder().build().readTree(firstLine(receiver));
        requireSame(answer, flat.bytes(), digest(libraries, flat));
      }
      return Outcome.of(
          new GpuMeasurement(
              GpuRow.G8,
              "weights to a receiver in Python, digests equal, " + setting.named("1.7B"),
              "GB/s",
              flat.bytes() / seconds / GB,
              OptionalDouble.empty(),
              Bar.atLeast(30)),
          new GpuMeasurement(
              GpuRow.G8,
              "weights to a receiver in Python, " + setting.named("1.7B"),
              "s",
              seconds,
              OptionalDouble.empty(),
              Bar.NONE));
    } catch (RankLostException lost) {
      throw new IOException("the receiver did not take part: " + lost.getMessage(), lost);
    }
  }

  private static TcpStoreServer storeOf(NcclUniqueId id) throws IOException {
    TcpStoreServer store =
        TcpStoreServer.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    store.put(PickledUniqueId.KEY, PickledUniqueId.of(id));
    return store;
  }

  private static String firstLine(ProcessGroup receiver) throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(receiver.output(), StandardCharsets.UTF_8));
    String line = lines.readLine();
    if (line == null) {
      throw new IOException("the receiver ended without a result; its messages are above");
    }
    return line;
  }

  private static ProcessGroup receiver(
      GpuSetting setting, int port, List<WeightChunks.Chunk> chunks) throws IOException {
    Path home = Path.of(System.getProperty("troupe.home", "."));
    List<String> command =
        new ArrayList<>(
            List.of(
                setting.python(),
                "-B",
                home.resolve("modules/benchmarks/src/main/python/receive.py").toString(),
                setting.nccl(),
                setting.deviceName(),
                Integer.toString(port)));
    chunks.forEach(chunk -> command.add(Long.toString(chunk.bytes())));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put(NcclChoice.SHARED_DEVICE, "1");
    return ProcessGroup.start(builder);
  }

  private static double broadcast(
      NcclCollective.Libraries libraries,
      NcclCollective group,
      Span.Device flat,
      List<WeightChunks.Chunk> chunks)
      throws RankLostException {
    long one = libraries.cuda().allocate(Float.BYTES);
    group.allReduce(Span.onDevice(one, Float.BYTES, Span.Element.F32));
    long start = System.nanoTime();
    for (WeightChunks.Chunk chunk : chunks) {
      group.broadcast(
          Span.onDevice(flat.address() + chunk.from(), chunk.bytes(), Span.Element.U8), 0);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    libraries.cuda().free(one);
    return seconds;
  }

  private static String digest(NcclCollective.Libraries libraries, Span.Device flat) {
    MemorySegment stream = libraries.cuda().newStream();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment host = arena.allocate(flat.bytes(), Long.BYTES);
      libraries.cuda().copy(flat.address(), host.address(), flat.bytes(), stream);
      while (!libraries.cuda().isDone(stream)) {
        Thread.onSpinWait();
      }
      MessageDigest digest = Sha256.digest();
      for (long at = 0; at < host.byteSize(); at += SLICE) {
        digest.update(host.asSlice(at, Math.min(SLICE, host.byteSize() - at)).asByteBuffer());
      }
      return Sha256.hex(digest);
    } finally {
      libraries.cuda().destroy(stream);
    }
  }

  private static void requireSame(JsonNode answer, long bytes, String digest) throws IOException {
    if (answer.required("bytes").asLong() != bytes
        || !answer.required("sha256").asText().equals(digest)) {
      throw new IOException(
          "the receiver has %s, but %d bytes with SHA-256 %s were sent"
              .formatted(answer, bytes, digest));
    }
  }
}
