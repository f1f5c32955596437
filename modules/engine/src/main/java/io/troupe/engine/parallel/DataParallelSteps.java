package io.troupe.engine.parallel;

import io.troupe.base.files.FileTree;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Makes the steps of a trainer with data-parallel ranks, which own the trainer's state.
 *
 * <p>A step brings back its outcome and no tensor. The ranks write weights and moments into files
 * when a snapshot or a checkpoint wants them, each its own piece.
 *
 * <p>When a rank is lost, the step is abandoned. All ranks begin again: from the last step, if
 * copies of its whole state are left in the memory of ranks, or else from the last saved state, and
 * then they make the steps since then again from the same batches. They try the batch again. It is
 * never given up, because what a rank lacks (a host, a driver, memory that others hold) may be
 * there at any later attempt; the ranks keep the pauses between attempts.
 *
 * <p><b>Invariant</b>: the saved state and the steps since then make the state of the ranks. The
 * steps are bounded: the ranks save their state when their batches hold too many tokens.
 */
public final class DataParallelSteps implements AutoCloseable {
  private final TrainerRanks ranks;
  private final MadeSteps since = new MadeSteps();
  private final VersionFiles versions;
  private Optional<Path> saved = Optional.empty();
  private int folders;
  private boolean begun;
  private boolean ahead;

  /**
   * The trainer whose steps they are: what it has before the first step, and files of its state.
   */
  public interface Owner {
    /** Writes all state of the trainer, which no rank has moved, into an empty directory. */
    void save(Path directory) throws IOException;

    /**
     * Makes an empty directory a checkpoint but for what the ranks hold.
     *
     * @return files that they are to write into
     */
    StateFiles createCheckpoint(Path directory) throws IOException;

    /**
     * Makes files in an empty directory for the trained weights, in the precision that passes
     * compute with and versions are published in.
     *
     * @return files that the ranks are to write into, for one version after the other
     */
    StateFiles createWeights(Path directory) throws IOException;

    /** Takes the weights that the ranks have written into such files. */
    void readWeights(Path directory) throws IOException;
  }

  /** Creates steps by ranks; {@link #close} closes the ranks. */
  public DataParallelSteps(TrainerRanks ranks) {
    this.ranks = ranks;
    this.versions = new VersionFiles(ranks);
  }

  /**
   * Notes that the trainer changed other than by these steps, so that the ranks begin again from
   * its state.
   */
  public void outdated() {
    begun = false;
    ahead = false;
    since.clear();
    saved.ifPresent(DataParallelSteps::delete);
    saved = Optional.empty();
  }

  /** Whether the ranks have moved since they took the trainer's own state. */
  public boolean ahead() {
    return ahead;
  }

  /** A request to all ranks. */
  private interface Order<T> {
    T give() throws IOException, RankLostException;
  }

  /**
   * Makes one step of the trainer.
   *
   * @throws UncheckedIOException if the ranks cannot begin; the trainer is as before
   */
  public StepOutcome step(Owner owner, RankBatch batch, OptimizerSettings optimisation) {
    if (!batch.hasLossWeight()) {
      return new StepOutcome.Skipped("no token of the batch has a loss weight");
    }
    long start = System.nanoTime();
    boolean joined = begun && ranks.changed();
    if (joined || since.isFull()) {
      keep(owner);
      begun = begun && !joined;
    }
    StepOutcome outcome =
        by(owner, () -> outcome(ranks.step(batch.splitAcross(ranks.size()), optimisation), start));
    if (outcome instanceof StepOutcome.Stepped) {
      since.add(batch, optimisation);
      ahead = true;
    }
    return outcome;
  }

  private static StepOutcome outcome(List<RankStepOutcome> steps, long start) {
    List<RankStepOutcome.Updated> moved = new ArrayList<>();
    String reason = "";
    for (RankStepOutcome step : steps) {
      switch (step) {
        case RankStepOutcome.Updated piece -> moved.add(piece);
        case RankStepOutcome.Refused(String own) -> reason = reason.isEmpty() ? own : reason;
      }
    }
    return moved.size() < steps.size()
        ? new StepOutcome.Skipped(
            reason.isEmpty() ? "the norm of the gradient is not finite" : reason)
        : PartialStepMetrics.whole(
            moved.stream().map(RankStepOutcome.Updated::part).toList(),
            moved.getFirst().norm(),
            (System.nanoTime() - start) / 1e9);
  }

  /**
   * Lets the ranks freeze their reference; the trainer has frozen its own. Their state is saved
   * first, so that ranks that begin again later have this reference too.
   */
  public void freezeReference(Owner owner) {
    if (saved.isPresent()) {
      keep(owner);
      by(owner, () -> frozen(ranks));
    }
  }

  private static boolean frozen(TrainerRanks ranks) throws IOException, RankLostException {
    ranks.freezeReference();
    return true;
  }

  /** Has the trainer take the weights of the ranks. */
  public void readWeights(Owner owner) {
    StateFiles written =
        by(
            owner,
            () -> {
              StateFiles files = versionFiles(owner);
              ranks.write(files);
              return files;
            });
    try {
      owner.readWeights(written.folder());
    } catch (IOException failure) {
      throw new UncheckedIOException(
          "the weights of the trainer's ranks cannot be read: " + failure.getMessage(), failure);
    }
  }

  private StateFiles versionFiles(Owner owner) {
    try {
      return versions.of(owner);
    } catch (IOException failure) {
      throw new UncheckedIOException(
          "no files for the weights of the trainer's ranks: " + failure.getMessage(), failure);
    }
  }

  /**
   * Saves the state of the ranks, durably.
   *
   * @param directory empty
   */
  public void save(Owner owner, Path directory) throws IOException {
    write(owner, owner.createCheckpoint(directory));
    Path copy = newFolder();
    link(directory, copy);
    savedAt(copy);
  }

  /** Saves the state of the ranks for themselves. */
  private void keep(Owner owner) {
    Path folder = newFolder();
    try {
      write(owner, owner.createCheckpoint(folder));
    } catch (IOException failure) {
      throw new UncheckedIOException(
          "the state of the trainer's ranks cannot be saved: " + failure.getMessage(), failure);
    }
    savedAt(folder);
  }

  private void write(Owner owner, StateFiles files) {
    by(
        owner,
        () -> {
          ranks.write(files);
          return true;
        });
  }

  private void savedAt(Path folder) {
    since.clear();
    saved.ifPresent(DataParallelSteps::delete);
    saved = Optional.of(folder);
  }

  private <T> T by(Owner owner, Order<T> order) {
    while (true) {
      try {
        if (!begun) {
          begin(owner);
        }
        return order.give();
      } catch (RankLostException failure) {
        begun = false;
        ranks.lost(String.valueOf(failure.getMessage()));
      } catch (IOException failure) {
        throw new UncheckedIOException(
            "the trainer's ranks cannot begin: " + failure.getMessage(), failure);
      }
    }
  }

  private void begin(Owner owner) throws IOException, RankLostException {
    if (saved.isEmpty()) {
      Path folder = newFolder();
      owner.save(folder);
      saved = Optional.of(folder);
    }
    versions.delete();
    ranks.begin(saved.get());
    since.restore(ranks);
    begun = true;
  }

  private Path newFolder() {
    try {
      if (folders == 0) {
        FileTree.delete(ranks.scratch()); // of a process that was killed
      }
      return Files.createDirectories(ranks.scratch().resolve("state-" + folders++));
    } catch (IOException failure) {
      throw new UncheckedIOException(
          "no folder for the state of the trainer's ranks: " + failure.getMessage(), failure);
    }
  }

  /** A checkpoint may be deleted before the next one is there, so its files have a second name. */
  private static void link(Path from, Path to) throws IOException {
    try (Stream<Path> entries = Files.walk(from)) {
      for (Path entry : entries.toList()) {
        Path target = to.resolve(from.relativize(entry).toString());
        if (Files.isDirectory(entry)) {
          Files.createDirectories(target);
        } else {
          linkOrCopy(entry, target);
        }
      }
    }
  }

  private static void linkOrCopy(Path file, Path target) throws IOException {
    try {
      Files.createLink(target, file);
    } catch (UnsupportedOperationException | FileSystemException withoutLinks) {
      Files.copy(file, target);
    }
  }

  private static void delete(Path folder) {
    try {
      FileTree.delete(folder);
    } catch (IOException failure) {
      throw new UncheckedIOException(
          "the state of trainer ranks is left in %s: %s".formatted(folder, failure.getMessage()),
          failure);
    }
  }

  @Override
  public void close() {
    ranks.close();
    delete(ranks.scratch());
    saved = Optional.empty();
  }
}
