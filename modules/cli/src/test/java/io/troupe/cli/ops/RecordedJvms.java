package io.troupe.cli.ops;

import io.troupe.console.process.FlameFrame;
import io.troupe.console.process.JvmInspector;
import io.troupe.console.process.JvmReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The agents of 16 nodes with 8 accelerators each, in every state that there is. */
final class RecordedJvms implements JvmInspector {
  private static final long GIB = 1L << 30;

  @Override
  public CompletionStage<List<JvmReport>> reports() {
    List<JvmReport> reports = new ArrayList<>();
    for (int node = 1; node <= 16; node++) {
      String name = "node-%02d".formatted(node);
      List<JvmReport.GpuReport> gpus = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        gpus.add(gpu(name, node, i));
      }
      reports.add(
          new JvmReport(
              name,
              "node",
              name,
              Map.of(
                  "heap_used_bytes",
                  0.1 * GIB,
                  "heap_max_bytes",
                  0.25 * GIB,
                  "machine_memory_bytes",
                  2_015.0 * GIB,
                  "machine_memory_free_bytes",
                  1_403.0 * GIB,
                  "process_cpu_share",
                  0.002,
                  "machine_cpu_share",
                  0.41,
                  "cores",
                  192.0,
                  "threads",
                  44.0),
              gpus,
              List.of(),
              List.of(),
              List.of()));
    }
    return CompletableFuture.completedFuture(reports);
  }

  private static JvmReport.GpuReport gpu(String node, int number, int i) {
    String state =
        number == 3 && i == 1
            ? "foreign"
            : number == 5 && i == 6
                ? "zombie"
                : number == 7 && i > 5 ? "free" : (number + i) % 11 == 0 ? "idle" : "ours";
    boolean ours = state.equals("ours") || state.equals("idle");
    return new JvmReport.GpuReport(
        i,
        "NVIDIA H200",
        141 * GIB,
        state.equals("free") ? 0 : (60 + (number * 7 + i * 13) % 70) * GIB,
        state.equals("ours") ? 80 + (number + i) % 20 : state.equals("foreign") ? 97 : 0,
        state,
        ours
            ? "%s/gpu-%d".formatted(node, i)
            : state.equals("foreign")
                ? "pid 4711 python3 <b>(somebody)</b>, 61,440 MiB"
                : state.equals("zombie") ? "pid 99 java (troupe), left by a former agent" : "");
  }

  @Override
  public CompletionStage<String> threads(String jvm) {
    return CompletableFuture.failedFuture(new NotThereException("recorded"));
  }

  @Override
  public CompletionStage<FlameFrame> flame(String jvm, Duration time) {
    return CompletableFuture.failedFuture(new NotThereException("recorded"));
  }
}
