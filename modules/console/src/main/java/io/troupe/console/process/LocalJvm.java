package io.troupe.console.process;

import com.sun.management.OperatingSystemMXBean;
import io.troupe.console.http.ApiException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** This process, as it reports itself. */
public final class LocalJvm implements JvmInspector {
  /** The name of the process that has the console. */
  public static final String COORDINATOR = "coordinator";

  private static final ExecutorService THREADS = Executors.newVirtualThreadPerTaskExecutor();

  private final String name;
  private final String role;
  private final String node;
  private final Supplier<List<JvmReport.GpuReport>> gpus;
  private final Supplier<List<JvmReport.VerifierReport>> verifiers;
  private final Supplier<List<ActorRow>> actors;
  private final Supplier<List<JvmReport.TurnReport>> heldTurns;

  /**
   * A process that has these.
   *
   * @param name as in {@link JvmReport}, and so the next two
   */
  public LocalJvm(
      String name,
      String role,
      String node,
      Supplier<List<JvmReport.GpuReport>> gpus,
      Supplier<List<JvmReport.VerifierReport>> verifiers,
      Supplier<List<ActorRow>> actors,
      Supplier<List<JvmReport.TurnReport>> heldTurns) {
    this.name = name;
    this.role = role;
    this.node = node;
    this.gpus = gpus;
    this.verifiers = verifiers;
    this.actors = actors;
    this.heldTurns = heldTurns;
  }

  /** The process of a console that shows a run's folder: nothing of it belongs to the run. */
  public static LocalJvm bystander() {
    return new LocalJvm(COORDINATOR, COORDINATOR, "", List::of, List::of, List::of, List::of);
  }

  /**
   * Returns the present report of this process. Blocks, for a bounded time, while it looks at its
   * machine.
   */
  public JvmReport report() {
    return new JvmReport(
        name,
        role,
        node,
        gauges(),
        gpus.get(),
        verifiers.get(),
        actors.get().stream().map(row -> row.in(name)).toList(),
        heldTurns.get());
  }

  /** The stacks of its threads. */
  public String threads() {
    return ThreadDump.take();
  }

  /**
   * Samples the stacks of this process; takes as long as it samples.
   *
   * @throws NotThereException if it samples for another caller
   */
  public FlameFrame flame(Duration time) throws IOException, InterruptedException {
    try {
      return StackSampler.take(time);
    } catch (ApiException busy) {
      throw new NotThereException(busy.sentence());
    }
  }

  @Override
  public CompletionStage<List<JvmReport>> reports() {
    return CompletableFuture.supplyAsync(() -> List.of(report()), THREADS);
  }

  @Override
  public CompletionStage<String> threads(String jvm) {
    return jvm.isEmpty() || jvm.equals(name)
        ? CompletableFuture.completedFuture(threads())
        : CompletableFuture.failedFuture(noSuch(jvm, List.of(name)));
  }

  @Override
  public CompletionStage<FlameFrame> flame(String jvm, Duration time) {
    if (!jvm.isEmpty() && !jvm.equals(name)) {
      return CompletableFuture.failedFuture(noSuch(jvm, List.of(name)));
    }
    CompletableFuture<FlameFrame> flame = new CompletableFuture<>();
    var _ =
        THREADS.submit(
            () -> {
              try {
                return flame.complete(flame(time));
              } catch (IOException | InterruptedException | NotThereException failed) {
                return flame.completeExceptionally(failed);
              }
            });
    return flame;
  }

  /** Returns the exception about a name that no process has. */
  public static NotThereException noSuch(String jvm, List<String> known) {
    return new NotThereException(
        "there is no process '%s' in this run; there are %s"
            .formatted(jvm, String.join(", ", known)));
  }

  private static Map<String, Double> gauges() {
    Map<String, Double> gauges = new TreeMap<>();
    Runtime jvm = Runtime.getRuntime();
    gauges.put("heap_used_bytes", (double) (jvm.totalMemory() - jvm.freeMemory()));
    gauges.put("heap_max_bytes", (double) jvm.maxMemory());
    gauges.put("cores", (double) jvm.availableProcessors());
    gauges.put("threads", (double) ManagementFactory.getThreadMXBean().getThreadCount());
    if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean machine) {
      gauges.put("process_cpu_share", machine.getProcessCpuLoad());
      gauges.put("machine_cpu_share", machine.getCpuLoad());
      gauges.put("machine_memory_bytes", (double) machine.getTotalMemorySize());
      gauges.put("machine_memory_free_bytes", (double) machine.getFreeMemorySize());
    }
    return gauges;
  }
}
