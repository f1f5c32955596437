package io.troupe.sync;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.troupe.base.files.AtomicFile;
import io.troupe.base.files.FileTree;
import io.troupe.base.hash.Sha256;
import io.troupe.store.checkpoint.CheckpointManifest;
import io.troupe.store.file.StoreJson;
import io.troupe.store.folder.RunFolder;
import io.troupe.sync.plan.CheckpointUpload;
import io.troupe.sync.plan.FolderState.LocalCheckpoint;
import io.troupe.sync.plan.RemoteCheckpoint;
import io.troupe.sync.plan.SyncState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The folder {@code sync/} of a run: the state of its copy, and the files of the checkpoint that is
 * on its way, as links that outlive the checkpoint's deletion by retention.
 */
final class SyncFiles {
  static final String FOLDER = "sync";
  private static final String STATE = "state.json";
  private static final String MANIFEST = "manifest.json";

  private final RunFolder folder;
  private final Path state;
  private final Path held;

  SyncFiles(RunFolder folder) {
    this.folder = folder;
    this.state = folder.path().resolve(FOLDER).resolve(STATE);
    this.held = folder.path().resolve(FOLDER).resolve("held");
  }

  Optional<SyncState> read() throws IOException {
    try {
      return Optional.of(StoreJson.LINE.readValue(Files.readAllBytes(state), SyncState.class));
    } catch (NoSuchFileException never) {
      return Optional.empty();
    } catch (JsonProcessingException damaged) {
      throw new IOException(
          "%s cannot be read (%s); delete it, and the copy is compared with the folder again"
              .formatted(state, damaged.getOriginalMessage()),
          damaged);
    }
  }

  void write(SyncState next) throws IOException {
    write(folder.path(), next);
  }

  static void write(Path run, SyncState next) throws IOException {
    Path sync = Files.createDirectories(run.resolve(FOLDER));
    AtomicFile.replace(sync.resolve(STATE), StoreJson.LINE.writeValueAsBytes(next));
  }

  /**
   * Takes links of a checkpoint's files.
   *
   * @param writer of the copy
   * @return files to upload; nothing if the checkpoint has gone or was replaced
   */
  Optional<CheckpointUpload> hold(LocalCheckpoint checkpoint, String writer) throws IOException {
    Path from = folder.checkpoints().resolve("step" + checkpoint.step());
    Path to = held.resolve("step%d".formatted(checkpoint.step()));
    try {
      if (Files.exists(held)) {
        FileTree.delete(held);
      }
      Files.createDirectories(to);
      CheckpointManifest manifest = CheckpointManifest.read(from);
      List<CheckpointUpload.Item> items = new ArrayList<>();
      for (CheckpointManifest.Entry entry : manifest.files()) {
        link(from.resolve(entry.path()), to.resolve(entry.path()));
        items.add(new CheckpointUpload.Item(entry.path(), entry.bytes(), entry.sha256()));
      }
      link(from.resolve(MANIFEST), to.resolve(MANIFEST));
      String found = Sha256.hex(to.resolve(MANIFEST));
      items.add(new CheckpointUpload.Item(MANIFEST, Files.size(to.resolve(MANIFEST)), found));
      return found.equals(checkpoint.manifest())
          ? Optional.of(
              new CheckpointUpload(
                  new RemoteCheckpoint(checkpoint.step(), checkpoint.bytes(), found, writer),
                  items,
                  0,
                  List.of()))
          : Optional.empty();
    } catch (NoSuchFileException deleted) {
      return Optional.empty();
    }
  }

  private static void link(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    try {
      Files.createLink(to, from);
    } catch (UnsupportedOperationException none) {
      Files.copy(from, to);
    }
  }

  /** A file of the checkpoint that is on its way. */
  Path file(CheckpointUpload upload, CheckpointUpload.Item item) {
    return held.resolve("step%d".formatted(upload.checkpoint().step())).resolve(item.path());
  }

  void release() throws IOException {
    if (Files.exists(held)) {
      FileTree.delete(held);
    }
  }
}
