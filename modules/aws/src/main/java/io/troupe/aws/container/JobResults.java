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
      replaceFiles(policy.get(), folders.model());
    }
    replaceFiles(run, folders.results().resolve("run"));
  }

  /** Copies the files of a folder, not those of folders in it. */
  private static void replaceFiles(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    List<Path> files;
    try (Stream<Path> all = Files.list(to)) {
      for (Path old : all.toList()) {
        FileTree.delete(old);
      }
    }
    try (Stream<Path> all = Files.list(from)) {
      files =
          all.filter(Files::isRegularFile)
              .filter(file -> !file.endsWith("optimizer.safetensors"))
              .toList();
    }
    for (Path file : files) {
      Files.copy(file, to.resolve(String.valueOf(file.getFileName())));
    }
  }
}
