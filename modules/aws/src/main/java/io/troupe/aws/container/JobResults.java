package io.troupe.aws.container;

import io.troupe.base.files.FileTree;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Puts what a container leaves of its run where SageMaker packs it. */
record JobResults(ContainerFolders folders) {
  /** Leaves the newest policy, and the run's small files. */
  void leave(Path run) throws IOException {
    RunFolder folder = RunFolder.view(folders.runs(), run.toString());
    Optional<Path> policy =
        Checkpoints.view(folder.checkpoints()).list().whole().stream()
            .max(Comparator.comparingLong(Checkpoint::step))
            .map(newest -> newest.directory().resolve("policy"))
            .filter(Files::isDirectory);
    if (policy.isPresent()) {
      Path trainer = policy.get().resolve("trainer"); // what only a resumed training needs
      replaceFiles(
          policy.get(),
          FileTree.files(policy.get(), file -> !file.startsWith(trainer)),
          folders.model());
    }
    try (Stream<Path> files = Files.list(run)) { // not those of folders in it
      replaceFiles(
          run, files.filter(Files::isRegularFile).toList(), folders.results().resolve("run"));
    }
  }

  private static void replaceFiles(Path from, List<Path> files, Path to) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> all = Files.list(to)) {
      for (Path old : all.toList()) {
        FileTree.delete(old);
      }
    }
    for (Path file : files) {
      Path copy = to.resolve(from.relativize(file).toString());
      Files.createDirectories(copy.resolveSibling("."));
      Files.copy(file, copy);
    }
  }
}
