package io.troupe.benchmarks.control;

import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalArchiver;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.journal.JournalSuffix;
import io.troupe.store.state.StateSnapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe bench journal}: what a long run's journal costs. */
@Command(
    name = "journal",
    mixinStandardHelpOptions = true,
    description =
        "Writes the journal of a run of many groups, with a checkpoint near its end, and measures"
            + " what a process that continues from there waits for it, and the space it takes."
            + " Needs about 1.1 kB of disk a group while it runs.",
    footer = {
      "",
      "Examples:",
      "  troupe bench journal",
      "  troupe bench journal --groups 10000000"
    })
public final class JournalBenchmark implements Callable<Integer> {
  private static final double BAR_SECONDS = 15;
  private static final double NANOS = 1e9;
  private static final double MIB = 1 << 20;
  private static final int BATCH = 512;

  @Option(
      names = "--groups",
      description = "Groups before the checkpoint, default ${DEFAULT-VALUE}.")
  private long groups = 1_000_000;

  @Option(
      names = "--later",
      description = "Groups after it, default ${DEFAULT-VALUE}: 50 steps of 64.")
  private long later = 3_200;

  @Option(
      names = "--rounds",
      description = "Times it is opened, the median counts, default ${DEFAULT-VALUE}.")
  private int rounds = 5;

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      description = "Where to write; emptied afterwards. Default: the temporary folder.")
  private @Nullable Path folder;

  @Mixin private final ResultFile resultFile = new ResultFile();

  @Override
  public Integer call() throws IOException {
    Path place = folder == null ? Files.createTempDirectory("troupe-bench") : folder;
    Path journal = place.resolve("journal");
    Path checkpoints = place.resolve("checkpoints");
    try {
      List<Measurement> results = new ArrayList<>();
      long start = System.nanoTime();
      StateSnapshot checkpoint = write(journal, checkpoints);
      results.add(seconds("writing it", start));
      double plain = bytes(journal);
      results.add(plain("journal of a group, plain", plain / (groups + later), "bytes"));
      resume(journal, checkpoint, "plain", results);
      start = System.nanoTime();
      JournalArchiver.tidy(journal, checkpoints, 0);
      double taken = (System.nanoTime() - start) / NANOS;
      double compressed = bytes(journal);
      results.add(plain("compressing it", plain / MIB / taken, "MiB/s"));
      results.add(plain("journal of a group, compressed", compressed / (groups + later), "bytes"));
      resume(journal, checkpoint, "compressed", results);
      BenchmarkReport.print("%-52s %,12.3f %-14s %s%n", results);
      return resultFile.end(results);
    } finally {
      FileTree.delete(journal);
      FileTree.delete(checkpoints);
    }
  }

  private StateSnapshot write(Path folder, Path checkpoints) throws IOException {
    SyntheticHistory past = new SyntheticHistory();
    try (Journal journal = Journal.open(folder, JournalSettings.defaults())) {
      append(journal, past, groups);
      StateSnapshot checkpoint = new StateSnapshot(journal.position(), past.state());
      Checkpoints.open(checkpoints)
          .save(1, directory -> checkpoint.write(directory.resolve(StateSnapshot.FILE)));
      append(journal, past, later);
      return checkpoint;
    }
  }

  private static void append(Journal journal, SyntheticHistory past, long groups)
      throws IOException {
    List<byte[]> batch = new ArrayList<>();
    for (long i = 0; i < groups; i++) {
      batch.addAll(past.next());
      if (batch.size() >= BATCH) {
        journal.append(batch);
        batch.clear();
      }
    }
    if (!batch.isEmpty()) {
      journal.append(batch);
    }
  }

  /**
   * Continues a journal as a process does at its start: takes it over, and reads the new records.
   */
  private void resume(Path folder, StateSnapshot checkpoint, String form, List<Measurement> results)
      throws IOException {
    double[] times = new double[rounds];
    long records = 0;
    for (int round = 0; round < rounds; round++) {
      long start = System.nanoTime();
      try (Journal journal = Journal.open(folder, JournalSettings.defaults())) {
        JournalSuffix history = JournalSuffix.since(folder, checkpoint);
        times[round] = (System.nanoTime() - start) / NANOS;
        records = history.records();
        if (journal.recovery().records() != checkpoint.journal().sequence() + records) {
          throw new IOException("the journal of the benchmark lost records");
        }
      }
    }
    results.add(
        new Measurement(
            "resume after %,d groups, %s".formatted(groups, form),
            BenchmarkReport.median(times),
            "s",
            Double.NaN,
            BAR_SECONDS,
            false));
    results.add(plain("  records read for it", (double) records, ""));
  }

  private static Measurement seconds(String name, long start) {
    return plain(name, (System.nanoTime() - start) / NANOS, "s");
  }

  private static Measurement plain(String name, double value, String unit) {
    return new Measurement(name, value, unit, Double.NaN, Double.NaN, false);
  }

  private static double bytes(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.mapToLong(file -> file.toFile().length()).sum();
    }
  }
}
