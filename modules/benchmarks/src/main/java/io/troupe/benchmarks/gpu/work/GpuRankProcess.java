package io.troupe.benchmarks.gpu.work;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.accelerator.nccl.CudaRuntime;
import io.troupe.accelerator.nccl.NcclCollective;
import io.troupe.accelerator.nccl.NcclLibrary;
import io.troupe.accelerator.nccl.NcclUniqueId;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A rank of two in a process of its own: {@code GpuRankProcess SETTING RANK ID}. It joins the group
 * of that id, and answers each line with a line of JSON.
 */
final class GpuRankProcess {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int RANKS = 2;
  private static final Duration DEADLINE = Duration.ofMinutes(1);
  private static final int SHOWN = 1024;

  private final CudaRuntime cuda;
  private final NcclCollective group;
  private final int rank;
  private CompletableFuture<String> hanging = CompletableFuture.completedFuture("");

  private GpuRankProcess(CudaRuntime cuda, NcclCollective group, int rank) {
    this.cuda = cuda;
    this.group = group;
    this.rank = rank;
  }

  public static void main(String[] arguments) throws Exception {
    GpuSetting setting = JSON.readValue(arguments[0], GpuSetting.class);
    int rank = Integer.parseInt(arguments[1]);
    NcclChoice.allowSharing();
    CudaRuntime cuda = CudaRuntime.open(Path.of(setting.cudart()));
    cuda.setDevice(NcclChoice.device(setting, rank));
    NcclCollective.Libraries libraries =
        new NcclCollective.Libraries(NcclLibrary.open(Path.of(setting.nccl())), cuda);
    NcclUniqueId id = new NcclUniqueId(HexFormat.of().parseHex(arguments[2]));
    try (NcclCollective group = NcclCollective.join(libraries, id, rank, RANKS, DEADLINE)) {
      new GpuRankProcess(cuda, group, rank).serve();
    }
  }

  private void serve() throws Exception {
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ", -1);
      Map<String, Object> answer =
          switch (words[0]) {
            case "exchange" -> exchange(Long.parseLong(words[1]), Integer.parseInt(words[2]));
            case "hang" -> hang();
            case "abort" -> abort();
            case "alive" -> Map.of("devices", cuda.devices());
            default -> throw new IOException("unknown command: " + line);
          };
      System.out.println(JSON.writeValueAsString(answer));
    }
  }

  /** Sums an array of float32 over the ranks and gathers it in bfloat16, as a step does. */
  private Map<String, Object> exchange(long bytes, int rounds)
      throws RankLostException, IOException {
    long count = bytes / Float.BYTES;
    long all = cuda.allocate(bytes);
    long piece = cuda.allocate(bytes / RANKS);
    MemorySegment stream = cuda.newStream();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment host = arena.allocate(bytes, Long.BYTES);
      for (long i = 0; i < count; i++) {
        host.setAtIndex(ValueLayout.JAVA_FLOAT, i, value(rank, i));
      }
      copy(host.address(), all, bytes, stream);
      Span whole = Span.onDevice(all, bytes, Span.Element.F32);
      Span part = Span.onDevice(piece, bytes / RANKS, Span.Element.F32);
      double summing = 0;
      double gathering = 0;
      for (int round = -1; round < rounds; round++) {
        long start = System.nanoTime();
        group.reduceScatter(whole, part);
        long middle = System.nanoTime();
        group.allGather(
            Span.onDevice(piece, bytes / RANKS / 2, Span.Element.BF16),
            Span.onDevice(all, bytes / 2, Span.Element.BF16));
        long end = System.nanoTime();
        if (round < 0) { // the first warms up, and is the one that is checked
          copy(piece, host.address(), bytes / RANKS, stream);
          requireSums(host, count);
        } else {
          summing += (middle - start) / 1e9;
          gathering += (end - middle) / 1e9;
        }
      }
      return Map.of("sum", summing / rounds, "gather", gathering / rounds);
    } finally {
      cuda.destroy(stream);
      cuda.free(piece);
      cuda.free(all);
    }
  }

  private void copy(long from, long to, long bytes, MemorySegment stream) {
    cuda.copy(from, to, bytes, stream);
    while (!cuda.isDone(stream)) {
      Thread.onSpinWait();
    }
  }

  private static float value(int rank, long i) {
    return (i % SHOWN) * (1f + rank);
  }

  private void requireSums(MemorySegment host, long count) throws IOException {
    long from = rank * count / RANKS;
    for (long i = 0; i < count / RANKS; i++) {
      float found = host.getAtIndex(ValueLayout.JAVA_FLOAT, i);
      float sum = value(0, from + i) + value(1, from + i);
      if (found != sum) {
        throw new IOException("element %d of the sum is %s, not %s".formatted(i, found, sum));
      }
    }
  }

  /** Begins a sum that the other rank never joins. */
  private Map<String, Object> hang() {
    hanging = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                group.barrier();
                hanging.complete("");
              } catch (RankLostException lost) {
                hanging.complete(String.valueOf(lost.getMessage()));
              }
            });
    return Map.of();
  }

  private Map<String, Object> abort() {
    long start = System.nanoTime();
    group.abort();
    String refusal = hanging.join();
    return Map.of("seconds", (System.nanoTime() - start) / 1e9, "refusal", refusal);
  }
}
