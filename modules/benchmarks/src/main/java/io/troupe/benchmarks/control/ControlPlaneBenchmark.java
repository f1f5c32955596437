package io.troupe.benchmarks.control;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.benchmarks.harness.RoundsOption;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.weights.WeightVersion;
import io.troupe.net.wire.WireJacksonModule;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.journal.JournalWriter;
import io.troupe.telemetry.view.RunFold;
import io.troupe.telemetry.view.RunViewSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe bench control-plane}: what the coordinator can carry. */
@Command(
    name = "control-plane",
    mixinStandardHelpOptions = true,
    description =
        "Measures the coordinator on workers and a trainer that answer at once: completions per"
            + " second with a journal on disk, bytes of its messages, memory of a group in flight.",
    footer = {"", "Example:", "  troupe bench control-plane --json result.json"})
public final class ControlPlaneBenchmark implements Callable<Integer> {
  private static final double BAR = 10_000;
  private static final int[] IN_FLIGHT = {64, 256, 1_024, 4_096};
  private static final int WORKERS = 16;
  private static final int MANY_WORKERS = 768;
  private static final int TOKENS = 512;
  private static final double KIB = 1024;
  private static final int FORMER_WORKERS = 20_000;
  private static final int LIVE_GROUPS = 1_024;
  private static final int FOLD_EVENTS = 200_000;
  private static final double NANOS_OF_MICRO = 1_000;

  @Option(
      names = "--completions",
      description = "Completions of a round, default ${DEFAULT-VALUE}.")
  private long completions = 100_000;

  @Mixin private final RoundsOption rounds = new RoundsOption(3);

  @Mixin private final ResultFile resultFile = new ResultFile();

  @Override
  public Integer call() throws IOException {
    List<Measurement> results = new ArrayList<>();
    for (int groups : IN_FLIGHT) {
      results.add(
          new Measurement(
              "coordinator and journal, %,d groups in flight".formatted(groups),
              rate(WORKERS, groups),
              "completions/s",
              Double.NaN,
              BAR,
              true));
    }
    results.add(
        new Measurement(
            "  %,d of %,d workers".formatted(MANY_WORKERS * 4, MANY_WORKERS),
            rate(MANY_WORKERS, MANY_WORKERS * 4),
            "completions/s",
            Double.NaN,
            BAR,
            true));
    results.add(fold("an event in the console's view, 1,024 live groups", 0));
    results.add(fold("  beside 20,000 former workers", FORMER_WORKERS));
    results.addAll(sizes());
    results.add(
        new Measurement(
            "heap of a buffered group of 16 (numbers only)",
            heapOfAGroup() / KIB,
            "KiB",
            Double.NaN,
            Double.NaN,
            false));
    BenchmarkReport.print("%-52s %,12.1f %-14s %s%n", results);
    return resultFile.end(results);
  }

  /** Measures the cost of an event on the coordinator's thread for the views of a run. */
  private static Measurement fold(String name, int formerWorkers) {
    RunFold fold =
        new RunFold(new RunViewSettings("bench", 64, 16, 1, "mask", 4_096, 1, 1), 10_000);
    for (int i = 0; i < formerWorkers; i++) {
      WorkerId worker = new WorkerId("former-" + i);
      fold.event(1, new Event.DemandRaised(worker, 1));
      fold.event(1, new Event.WorkerLost(worker));
    }
    for (int i = 1; i <= LIVE_GROUPS; i++) {
      fold.event(1, new Event.GroupAdmitted(new GroupId(i), i, 0, new PromptCursor(0, i)));
    }
    WorkerId worker = new WorkerId("present");
    long start = 0;
    for (int event = -FOLD_EVENTS; event < FOLD_EVENTS; event++) {
      if (event == 0) {
        start = System.nanoTime();
      }
      fold.event(2, new Event.DemandRaised(worker, event));
    }
    return new Measurement(
        name,
        (System.nanoTime() - start) / NANOS_OF_MICRO / FOLD_EVENTS,
        "µs",
        Double.NaN,
        Double.NaN,
        false);
  }

  /** The median of the rounds, after one to warm up, each with a new journal. */
  private double rate(int workers, int groups) throws IOException {
    double[] rates = new double[rounds.value()];
    for (int round = -1; round < rounds.value(); round++) {
      double rate = round(workers, groups);
      if (round >= 0) {
        rates[round] = rate;
      }
    }
    return BenchmarkReport.median(rates);
  }

  private double round(int workers, int groups) throws IOException {
    Path folder = Files.createTempDirectory("troupe-bench");
    try {
      JournalSettings settings = JournalSettings.defaults();
      try (JournalWriter writer =
          JournalWriter.start(Journal.open(folder, settings), settings.queueCapacity())) {
        List<CompletionStage<?>> last = new ArrayList<>(List.of());
        CoordinatorLoop loop = new CoordinatorLoop(workers, groups, appending(writer, last));
        long start = System.nanoTime();
        loop.run(completions);
        last.forEach(stage -> stage.toCompletableFuture().join());
        return completions * 1e9 / (System.nanoTime() - start);
      }
    } finally {
      FileTree.delete(folder);
    }
  }

  /** Appends, waiting now and then, so that a slow disk is measured and not queued up before. */
  private static Consumer<byte[]> appending(JournalWriter writer, List<CompletionStage<?>> last) {
    return record -> {
      last.add(writer.append(List.of(record)));
      if (last.size() == 256) {
        last.forEach(stage -> stage.toCompletableFuture().join());
        last.clear();
      }
    };
  }

  private static List<Measurement> sizes() throws IOException {
    ObjectMapper mapper =
        CBORMapper.builder().addModule(new Jdk8Module()).addModule(new WireJacksonModule()).build();
    LeaseId lease = new LeaseId(new GroupId(123_456), 234_567);
    WeightVersion version = new WeightVersion(1_234);
    List<Completion> drawn = new ArrayList<>();
    List<Double> rewards = new ArrayList<>();
    for (int i = 0; i < CoordinatorLoop.completionsPerGroup(); i++) {
      drawn.add(
          new Completion(
              new int[TOKENS],
              new float[TOKENS],
              TokenVersions.uniform(version, TOKENS),
              FinishReason.STOP));
      rewards.add((double) (i % 2));
    }
    int tokens = TOKENS * drawn.size();
    double group =
        mapper.writeValueAsBytes(ScoredGroup.ofCompletions(lease, new int[200], drawn, rewards))
            .length;
    double summary = mapper.writeValueAsBytes(CoordinatorLoop.summary(lease, version)).length;
    double id = mapper.writeValueAsBytes(lease).length;
    return List.of(
        size("lease", id),
        size("summary of a group of 16, to the coordinator", summary),
        size("the group itself, to the trainer, 512 tokens each", group),
        new Measurement(
            "  of it per token", group / tokens, "bytes", Double.NaN, Double.NaN, false));
  }

  private static Measurement size(String name, double bytes) {
    return new Measurement(name, bytes, "bytes", Double.NaN, Double.NaN, false);
  }

  private static double heapOfAGroup() {
    int groups = 20_000;
    List<Object> held = new ArrayList<>(groups);
    long before = used();
    for (int i = 1; i <= groups; i++) {
      held.add(
          CoordinatorLoop.summary(new LeaseId(new GroupId(i), i), new WeightVersion(i % 3 + 1)));
    }
    long after = used();
    return (after - before) / (double) held.size();
  }

  private static long used() {
    Runtime runtime = Runtime.getRuntime();
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
