package io.troupe.engine.parallel;

import io.troupe.engine.safetensors.TensorRangeWriter;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/**
 * Ranks that are threads of this process. One that fails by its own fault fails the trainer, as it
 * would without ranks: the same thread would fail again.
 */
public final class ThreadRanks implements TrainerRanks {
  private final int size;
  private final CollectiveFactory groups;
  private final Path scratch;
  private final Supplier<TrainerRank> maker;
  private final RankNotices notices;
  private final ExecutorService threads;
  private final List<TrainerRank> ranks = new ArrayList<>();
  private List<Collective> group = List.of();

  /**
   * Creates ranks that begin with their first step.
   *
   * @param groups opens a group at the beginning and after every lost rank
   * @param scratch folder for states, which nothing else uses
   * @param maker creates a rank
   * @param notices takes that the ranks go back
   */
  public ThreadRanks(
      int size,
      CollectiveFactory groups,
      Path scratch,
      Supplier<TrainerRank> maker,
      RankNotices notices) {
    this.size = size;
    this.scratch = scratch;
    this.groups = groups;
    this.maker = maker;
    this.notices = notices;
    this.threads =
        Executors.newFixedThreadPool(
            size, Thread.ofPlatform().daemon().name("trainer-rank-", 0).factory());
  }

  /** The work of one rank, called with the rank's index. */
  private interface Work<T> {
    T of(int rank) throws IOException, RankLostException;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public void begin(Path state) throws IOException, RankLostException {
    abandonGroup();
    while (ranks.size() < size) {
      ranks.add(maker.get());
    }
    group = groups.open(size);
    all(
        rank -> {
          ranks.get(rank).begin(state, group.get(rank));
          return rank;
        });
  }

  @Override
  public List<RankStepOutcome> step(List<RankBatch> shares, OptimizerSettings optimisation)
      throws RankLostException {
    return all(rank -> ranks.get(rank).step(shares.get(rank), optimisation));
  }

  @Override
  public void write(StateFiles files) throws IOException, RankLostException {
    try (TensorRangeWriter writer = TensorRangeWriter.open(files.folder(), files.names())) {
      var _ =
          all(
              rank -> {
                ranks.get(rank).write(files.parts(), writer::write);
                return rank;
              });
      if (files.durable()) {
        writer.force();
      }
    }
  }

  @Override
  public void freezeReference() throws RankLostException {
    var _ =
        all(
            rank -> {
              ranks.get(rank).freezeReference();
              return rank;
            });
  }

  /** Threads end with their process, so copies of their state would outlive nothing. */
  @Override
  public Optional<String> recover(long steps) {
    return Optional.of("ranks that are threads keep no copies of their state");
  }

  @Override
  public void wentBack(long steps, String reason) {
    notices.wentBack(steps, reason);
  }

  @Override
  public Path scratch() {
    return scratch;
  }

  @Override
  public void lost(String reason) {
    groups.lost(reason);
  }

  private <T> List<T> all(Work<T> work) throws RankLostException {
    List<Future<T>> running = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      int own = rank;
      running.add(threads.submit(() -> orAbandonGroup(own, work)));
    }
    List<T> results = new ArrayList<>();
    List<RankLostException> losses = new ArrayList<>();
    List<IllegalStateException> faults = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      try {
        results.add(running.get(rank).get());
      } catch (ExecutionException failed) {
        if (failed.getCause() instanceof RankLostException lost) {
          losses.add(lost);
        } else { // The other ranks only report its loss.
          faults.add(
              new IllegalStateException(
                  "trainer rank %d failed: %s".formatted(rank, failed.getCause()), failed));
        }
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new RankLostException(rank, "the trainer is stopped", stopped);
      }
    }
    if (!faults.isEmpty()) {
      throw faults.getFirst();
    }
    if (!losses.isEmpty()) {
      throw losses.getFirst();
    }
    return results;
  }

  /** A rank that fails leaves its group at once, so that the other ranks need not wait for it. */
  private <T> T orAbandonGroup(int rank, Work<T> work) throws IOException, RankLostException {
    boolean done = false;
    try {
      T result = work.of(rank);
      done = true;
      return result;
    } finally {
      if (!done) {
        group.get(rank).close();
      }
    }
  }

  private void abandonGroup() {
    group.forEach(Collective::close);
    group = List.of();
  }

  @Override
  public void close() {
    threads.close();
    abandonGroup();
    ranks.forEach(TrainerRank::close);
    ranks.clear();
  }
}
