package io.troupe.benchmarks.gpu.work;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.accelerator.nccl.NcclLibrary;
import io.troupe.benchmarks.gpu.row.GpuMeasurement;
import io.troupe.benchmarks.gpu.row.GpuMeasurement.Bar;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuShape;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.benchmarks.harness.WorkerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;

/**
 * Two ranks in two processes, on two GPUs or on one: the exchange of a step of 1.7B, and a rank
 * that is killed while the other one waits for it.
 */
record RankPairWork() implements GpuWork {
  private static final int ROUNDS = 5;
  private static final long BLOCK = 1024;
  private static final double GB = 1e9;
  private static final Bar ABORT = Bar.atMost(5);

  @Override
  public Outcome measure(GpuSetting setting) throws IOException, InterruptedException {
    Optional<String> obstacle = NcclChoice.obstacle(setting);
    if (obstacle.isPresent()) {
      return Outcome.unmeasured(obstacle.get());
    }
    String id =
        HexFormat.of().formatHex(NcclLibrary.open(Path.of(setting.nccl())).newUniqueId().bytes());
    long bytes =
        Math.ceilDiv(setting.shape(GpuShape.QWEN3_1_7B).parameters() * Float.BYTES, BLOCK) * BLOCK;
    try (WorkerProcess first = rank(setting, 0, id);
        WorkerProcess second = rank(setting, 1, id)) {
      String exchange = "exchange %d %d".formatted(bytes, ROUNDS);
      CompletableFuture<JsonNode> other = asked(second, exchange);
      JsonNode times = first.ask(exchange);
      other.join();
      first.ask("hang");
      second.kill();
      JsonNode abort = first.ask("abort");
      requireRefusal(abort);
      first.ask("alive");
      return Outcome.of(
          row(
              "sum of gradients in float32, " + setting.named("1.7B"),
              "GB/s",
              bytes / times.required("sum").asDouble() / GB,
              Bar.NONE),
          row(
              "gather of weights in bfloat16, " + setting.named("1.7B"),
              "GB/s",
              bytes / 2.0 / times.required("gather").asDouble() / GB,
              Bar.NONE),
          row(
              "abort after a rank was killed; the other process lives",
              "s",
              abort.required("seconds").asDouble(),
              ABORT));
    }
  }

  private static WorkerProcess rank(GpuSetting setting, int rank, String id) throws IOException {
    return WorkerProcess.java(
        GpuRankProcess.class,
        List.of(
            JsonMapper.builder().build().writeValueAsString(setting), Integer.toString(rank), id));
  }

  private static CompletableFuture<JsonNode> asked(WorkerProcess rank, String command) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return rank.ask(command);
          } catch (IOException ended) {
            throw new UncheckedIOException(ended);
          }
        });
  }

  private static void requireRefusal(JsonNode abort) throws IOException {
    if (abort.required("refusal").asText().isEmpty()) {
      throw new IOException("a sum without the killed rank ended as if it had taken part");
    }
  }

  private static GpuMeasurement row(String name, String unit, double value, Bar bar) {
    return new GpuMeasurement(GpuRow.G7, name, unit, value, OptionalDouble.empty(), bar);
  }
}
