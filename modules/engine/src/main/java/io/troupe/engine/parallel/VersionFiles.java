package io.troupe.engine.parallel;

import io.troupe.base.files.FileTree;
import io.troupe.engine.parallel.DataParallelSteps.Owner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The files through which the weights of a version pass from the ranks to their trainer: in the
 * memory of the host if it has room, else in the ranks' folder of states. They are written over for
 * each version, so their pages are made once, and what they hold is what a rank may send its
 * changes against.
 *
 * <p><b>Invariant</b>: files are those of one group of ranks. Ranks that begin again get other
 * ones, because a rank of the group before may still write into its own, which are not read then.
 */
final class VersionFiles {
  private final TrainerRanks ranks;
  private Optional<StateFiles> files = Optional.empty();
  private int folders;

  VersionFiles(TrainerRanks ranks) {
    this.ranks = ranks;
  }

  /** Returns the files of the present group. */
  StateFiles of(Owner owner) throws IOException {
    StateFiles found = files.isPresent() ? files.get() : create(owner);
    files = Optional.of(found);
    return found;
  }

  private StateFiles create(Owner owner) throws IOException {
    String name = "version-" + folders++;
    Optional<StateFiles> fast = inMemory(owner, name);
    return fast.isPresent()
        ? fast.get()
        : owner.createWeights(Files.createDirectories(ranks.scratch().resolve(name)));
  }

  /** A host without room in memory makes versions slower, and is no reason to lose a run. */
  private Optional<StateFiles> inMemory(Owner owner, String name) throws IOException {
    Optional<Path> folder = Optional.empty();
    try {
      folder = ranks.memory().map(memory -> memory.resolve(name));
      if (folder.isEmpty()) {
        return Optional.empty();
      }
      StateFiles made = owner.createWeights(Files.createDirectory(folder.get()));
      ranks.reserve(made);
      return Optional.of(made);
    } catch (IOException full) {
      ranks.withoutMemory(String.valueOf(full.getMessage()));
      if (folder.isPresent()) {
        FileTree.delete(folder.get());
      }
      return Optional.empty();
    }
  }

  /** Deletes the files; the next ones have another name. */
  void delete() throws IOException {
    if (files.isPresent()) {
      FileTree.delete(files.get().folder());
    }
    files = Optional.empty();
  }
}
