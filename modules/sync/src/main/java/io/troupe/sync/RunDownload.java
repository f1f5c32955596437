package io.troupe.sync;

import io.troupe.base.files.DurableFiles;
import io.troupe.base.files.FileTree;
import io.troupe.base.files.PrivateFiles;
import io.troupe.base.hash.Sha256;
import io.troupe.store.checkpoint.CheckpointManifest;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.objects.ObjectStore;
import io.troupe.sync.plan.Piece;
import io.troupe.sync.plan.RemoteCheckpoint;
import io.troupe.sync.plan.RemoteFile;
import io.troupe.sync.plan.RemoteIndex;
import io.troupe.sync.plan.SyncState;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Makes a run folder from its copy. It grows under a hidden name, where an interrupted download is
 * continued, and gets its own when every byte has the hash that the index says. Then it is the
 * folder that writes the copy: the former one is refused from its next index on.
 */
public final class RunDownload {
  /** The checkpoints that are downloaded. */
  public enum Checkpoints {
    NONE,
    NEWEST,
    ALL
  }

  private static final int WRITER_BYTES = 8;

  private final ObjectStore store;
  private final String target;
  private final Consumer<String> say;

  /**
   * A download, which has not asked the store yet.
   *
   * @param store below the copy's place
   * @param target that place, as people write it, ending with a slash
   * @param say takes a line for each file
   */
  public RunDownload(ObjectStore store, String target, Consumer<String> say) {
    this.store = store;
    this.target = target;
    this.say = say;
  }

  /**
   * The summary of a copy.
   *
   * @param writer the word of the folder that writes it
   * @param tag of this state of it
   * @param step of the newest checkpoint; -1 if there is none
   */
  public record Summary(
      String run, String writer, String tag, long step, int checkpoints, int files, long bytes) {}

  /** Returns the summary of the copy; nothing if no run was copied to this place. */
  public Optional<Summary> summary() throws IOException {
    Optional<ObjectStore.Content> there = store.read(RemoteIndex.KEY);
    if (there.isEmpty()) {
      return Optional.empty();
    }
    RemoteIndex index = RemoteIndex.parse(there.get().bytes(), target + RemoteIndex.KEY);
    return Optional.of(
        new Summary(
            index.run(),
            index.writer(),
            there.get().tag(),
            index.newest().map(RemoteCheckpoint::step).orElse(-1L),
            index.checkpoints().size(),
            index.files().size(),
            index.bytes()));
  }

  /**
   * Whether a folder is the one that the copy was written from last, or was downloaded from its
   * present state, so that it has all of it.
   *
   * @param folder a run folder
   */
  public static boolean hasAll(RunFolder folder, String target, Summary there) throws IOException {
    return new SyncFiles(folder)
        .read()
        .filter(
            state ->
                state.target().equals(target)
                    && (state.writer().equals(there.writer()) || state.tag().equals(there.tag())))
        .isPresent();
  }

  /**
   * Downloads the run.
   *
   * @param root gets the folder, under the run's name
   * @return the folder
   * @throws IOException if there is a folder of this name, nothing to download, or something is not
   *     what the index says
   */
  public Path into(Path root, Checkpoints which) throws IOException {
    ObjectStore.Content there =
        store
            .read(RemoteIndex.KEY)
            .orElseThrow(
                () ->
                    new IOException(
                        "%s holds no copy of a run: it has no %s"
                            .formatted(target, RemoteIndex.KEY)));
    RemoteIndex index = RemoteIndex.parse(there.bytes(), target + RemoteIndex.KEY);
    Path folder = root.resolve(index.run());
    if (Files.exists(folder)) {
      throw new IOException(
          "%s is there already; move it away, or choose another folder".formatted(folder));
    }
    Files.createDirectories(root);
    Path growing = root.resolve("." + index.run() + ".download");
    if (!Files.isDirectory(growing)) {
      PrivateFiles.newFolder(growing);
    }
    for (String part : List.of("journal", "checkpoints", "traces", SyncFiles.FOLDER)) {
      Files.createDirectories(growing.resolve(part));
    }
    for (RemoteFile file : index.files()) {
      say.accept("%s, %d bytes".formatted(file.path(), file.bytes()));
      fetch(file, inside(growing, file.path()));
    }
    for (RemoteCheckpoint checkpoint : chosen(index, which)) {
      say.accept("checkpoint step%d, %d bytes".formatted(checkpoint.step(), checkpoint.bytes()));
      fetch(checkpoint, growing.resolve("checkpoints").resolve("step" + checkpoint.step()));
    }
    removeOthers(growing, index);
    SyncFiles.write(growing, SyncState.joining(target, newWriter(), there.tag(), index));
    DurableFiles.rename(growing, folder);
    return folder;
  }

  static String newWriter() {
    byte[] word = new byte[WRITER_BYTES];
    new SecureRandom().nextBytes(word);
    return HexFormat.of().formatHex(word);
  }

  private static List<RemoteCheckpoint> chosen(RemoteIndex index, Checkpoints which) {
    return switch (which) {
      case NONE -> List.of();
      case NEWEST -> index.newest().stream().toList();
      case ALL -> index.checkpoints();
    };
  }

  private void fetch(RemoteFile file, Path into) throws IOException {
    if (isWhole(file, into)) {
      return;
    }
    Files.createDirectories(DurableFiles.parent(into));
    List<String> keys = file.keys();
    try (OutputStream out =
        Files.newOutputStream(
            into, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING)) {
      for (int i = 0; i < keys.size(); i++) {
        String key = keys.get(i);
        byte[] content =
            store
                .read(key)
                .orElseThrow(
                    () -> new IOException("%s%s is not there any more".formatted(target, key)))
                .bytes();
        check(target + key, Sha256.hex(content), file.pieces().get(i).sha256());
        out.write(content);
      }
    }
    DurableFiles.syncFile(into);
  }

  private static boolean isWhole(RemoteFile file, Path local) throws IOException {
    if (!Files.isRegularFile(local) || Files.size(local) != file.bytes()) {
      return false;
    }
    long offset = 0;
    for (Piece piece : file.pieces()) {
      byte[] content = FolderScan.read(local, offset, (int) piece.bytes());
      if (!Sha256.hex(content).equals(piece.sha256())) {
        return false;
      }
      offset += piece.bytes();
    }
    return true;
  }

  private void fetch(RemoteCheckpoint checkpoint, Path into) throws IOException {
    Files.createDirectories(into);
    String key = checkpoint.folder() + "manifest.json";
    Path manifest = into.resolve("manifest.json");
    store.download(key, manifest);
    check(target + key, Sha256.hex(manifest), checkpoint.manifest());
    for (CheckpointManifest.Entry entry : CheckpointManifest.read(into).files()) {
      Path file = inside(into, entry.path());
      if (!Files.isRegularFile(file)
          || Files.size(file) != entry.bytes()
          || !Sha256.hex(file).equals(entry.sha256())) {
        store.download(checkpoint.folder() + entry.path(), file);
        check(target + checkpoint.folder() + entry.path(), Sha256.hex(file), entry.sha256());
      }
    }
  }

  private static Path inside(Path folder, String path) throws IOException {
    Path file = folder.resolve(path).normalize();
    if (!file.startsWith(folder.normalize()) || file.equals(folder.normalize())) {
      throw new IOException("the name %s leads out of its folder".formatted(path));
    }
    return file;
  }

  /** Removes the files that an interrupted download of an older index has left. */
  private static void removeOthers(Path growing, RemoteIndex index) throws IOException {
    for (Path file : FileTree.files(growing.resolve("journal"))) {
      if (index.files().stream().noneMatch(one -> growing.resolve(one.path()).equals(file))) {
        FileTree.delete(file);
      }
    }
  }

  private static void check(String what, String found, String expected) throws IOException {
    if (!found.equals(expected)) {
      throw new IOException(
          "%s has sha-256 %s instead of %s; it was changed, or came damaged: download it again"
              .formatted(what, found, expected));
    }
  }
}
