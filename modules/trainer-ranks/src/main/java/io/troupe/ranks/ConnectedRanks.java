package io.troupe.ranks;

import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankNotices;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StateFiles;
import io.troupe.engine.parallel.TrainerRanks;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.ranks.protocol.VersionMarks;
import io.troupe.weights.cache.MemoryFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Trainer ranks in other processes, which the coordinator calls over connections. */
abstract class ConnectedRanks implements TrainerRanks {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectedRanks.class);

  private final Path scratch;
  private final RankNotices notices;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("rank-talk-", 0).factory());

  /** Of the copies of the last common step. */
  private long mark;

  private Optional<MemoryFolder> memory = Optional.empty();
  private Optional<WrittenVersion> written = Optional.empty();

  /** The version that files in a folder have, whole. */
  private record WrittenVersion(Path folder, long mark) {}

  /**
   * Ranks that have not begun.
   *
   * @param scratch folder for states, which nothing else uses
   * @param notices takes what the user should know
   */
  ConnectedRanks(Path scratch, RankNotices notices) {
    this.scratch = scratch;
    this.notices = notices;
  }

  /** Returns the next calls to all ranks. */
  abstract RankFanOut round();

  ExecutorService threads() {
    return threads;
  }

  void say(String sentence) {
    notices.say(sentence);
  }

  @Override
  public List<RankStepOutcome> step(List<RankBatch> batches, OptimizerSettings optimisation)
      throws RankLostException {
    long next = RankCopies.newMark();
    List<RankStepOutcome> steps = round().step(batches, optimisation, next);
    mark = RankFanOut.moved(steps) ? next : mark;
    return steps;
  }

  @Override
  public final void write(StateFiles files) throws IOException, RankLostException {
    long next = RankCopies.newMark();
    VersionMarks marks =
        new VersionMarks(
            written
                .filter(version -> version.folder.equals(files.folder()))
                .map(WrittenVersion::mark)
                .orElseGet(RankCopies::newMark),
            next);
    if (files.durable()) {
      var _ = round().write(files, marks);
      return;
    }
    written = Optional.empty(); // until all ranks have written
    int again = round().write(files, marks);
    written = Optional.of(new WrittenVersion(files.folder(), next));
    if (again > 0) {
      say(
          "%d ranges of new weights, sent as changes, were not what the ranks have, and came again whole"
              .formatted(again));
    }
  }

  @Override
  public final Optional<Path> memory() throws IOException {
    if (memory.isEmpty()) {
      memory = MemoryFolder.open("ranks", scratch);
    }
    return memory.map(MemoryFolder::path);
  }

  @Override
  public final void reserve(StateFiles files) throws IOException {
    memory
        .orElseThrow()
        .makePages(files.names().stream().map(name -> files.folder().resolve(name)).toList());
  }

  @Override
  public final void withoutMemory(String reason) {
    LOG.warn("event=versions_without_memory folder={} reason=\"{}\"", scratch, reason);
    say("new weights pass through %s, which is slower: %s".formatted(scratch, reason));
  }

  @Override
  public final void freezeReference() throws RankLostException {
    round().freezeReference();
  }

  @Override
  public final Optional<String> recover(long steps) throws RankLostException {
    long next = RankCopies.newMark();
    Optional<String> lacking = round().takeCopies(mark, next, steps);
    mark = lacking.isEmpty() ? next : mark;
    return lacking;
  }

  @Override
  public final void wentBack(long steps, String reason) {
    LOG.warn("event=trainer_ranks_went_back steps={} reason=\"{}\"", steps, reason);
    notices.wentBack(steps, reason);
  }

  @Override
  public final void lost(String reason) {
    LOG.warn("event=trainer_rank_lost reason=\"{}\"", reason);
    say("the step is abandoned and made again: " + reason);
  }

  @Override
  public final Path scratch() {
    return scratch;
  }

  /** Returns the bytes that passed between the coordinator and the processes of the ranks. */
  public final long linkBytes() {
    return round().bytes();
  }

  @Override
  public void close() {
    threads.close();
    memory.ifPresent(ConnectedRanks::delete);
    memory = Optional.empty();
  }

  private static void delete(MemoryFolder memory) {
    try {
      memory.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(
          "the weights of versions are left in %s: %s"
              .formatted(memory.path(), failure.getMessage()),
          failure);
    }
  }
}
