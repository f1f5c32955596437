package io.troupe.sync;

import io.troupe.base.files.FileTree;
import io.troupe.base.hash.Sha256;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import io.troupe.sync.plan.FolderState;
import io.troupe.sync.plan.FolderState.LocalCheckpoint;
import io.troupe.sync.plan.FolderState.LocalFile;
import io.troupe.sync.plan.Piece;
import io.troupe.sync.plan.SyncState;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Looks at a run folder. Checkpoints come first: so the journal of the same look holds the position
 * of each. Of the journal its base comes last: what it says was dropped may still be there, and
 * never the other way round.
 *
 * <p>Locks, fsync marks, secrets and what belongs to this host's processes are not copied, nor are
 * the temporary files of {@link io.troupe.base.files.AtomicFile}.
 */
final class FolderScan {
  private static final Pattern COPIED =
      Pattern.compile(
          "(config|resolved)\\.yaml|(run|model)\\.json|[^./][^/]*\\.(jsonl|md)|(patches|traces|tokens|evaluations)/.*"
              + "|journal/(\\d+\\.journal(\\.gz)?|base\\.json|torn-[^/]*)");

  private static final Pattern TEMPORARY = Pattern.compile("\\..*\\.tmp");

  private static final List<String> FOLDERS =
      List.of("patches", "traces", "tokens", "evaluations", "journal");

  private static final String BASE = "journal/base.json";

  private record Seen(long bytes, FileTime changed) {}

  private final RunFolder folder;
  private final Map<String, Seen> checked = new HashMap<>();

  FolderScan(RunFolder folder) {
    this.folder = folder;
  }

  /**
   * Looks once.
   *
   * @throws NoSuchFileException if a file of the copy went meanwhile, such as a segment that is
   *     compressed: a state without the file, and without the one that takes its place, would
   *     delete both from the copy
   */
  FolderState look() throws IOException {
    List<LocalCheckpoint> checkpoints = new ArrayList<>();
    for (Checkpoint one : Checkpoints.view(folder.checkpoints()).list().whole()) {
      try {
        checkpoints.add(
            new LocalCheckpoint(
                one.step(),
                one.manifest().bytes(),
                Sha256.hex(one.directory().resolve("manifest.json")),
                Files.exists(one.directory().resolve("keep"))));
      } catch (NoSuchFileException deleted) {
        // By retention, since it was listed.
      }
    }
    return new FolderState(files(), checkpoints);
  }

  private List<LocalFile> files() throws IOException {
    List<String> paths = new ArrayList<>(settledPaths());
    if (paths.remove(BASE)) {
      paths.add(BASE);
    }
    List<LocalFile> files = new ArrayList<>();
    for (String path : paths) {
      files.add(new LocalFile(path, Files.size(folder.path().resolve(path))));
    }
    return files;
  }

  /**
   * Returns the files of the copy. A listing is no snapshot: it may pass the place of a compressed
   * segment before that is there, and the place of the plain one when that is gone. A listing
   * counts once the next one equals it, since the next one has what came during this one.
   */
  private List<String> settledPaths() throws IOException {
    List<String> paths = listedPaths();
    List<String> before = List.of();
    while (!paths.equals(before)) {
      before = paths;
      paths = listedPaths();
    }
    return paths;
  }

  private List<String> listedPaths() throws IOException {
    List<String> paths = new ArrayList<>();
    try (Stream<Path> top = Files.list(folder.path())) {
      top.filter(this::isCopied)
          .filter(Files::isRegularFile)
          .map(this::path)
          .sorted()
          .forEach(paths::add);
    }
    for (String name : FOLDERS) {
      Path in = folder.path().resolve(name);
      if (Files.isDirectory(in)) {
        FileTree.files(in, this::isCopied).stream().map(this::path).forEach(paths::add);
      }
    }
    return paths;
  }

  private boolean isCopied(Path file) {
    return COPIED.matcher(path(file)).matches()
        && !TEMPORARY.matcher(file.getFileName().toString()).matches();
  }

  private String path(Path file) {
    return folder.path().relativize(file).toString().replace('\\', '/');
  }

  /** Checks every file again at the next look. */
  void forget() {
    checked.clear();
  }

  /** A state without the pieces that files do not begin with any more. */
  SyncState corrected(SyncState state, FolderState seen) throws IOException {
    SyncState next = state;
    for (LocalFile file : seen.files()) {
      Path path = folder.path().resolve(file.path());
      Seen now = new Seen(file.bytes(), attributes(path).lastModifiedTime());
      if (!now.equals(checked.get(file.path()))) {
        int intact =
            intact(path, file.bytes(), next.pieces(file.path()), checked.containsKey(file.path()));
        if (intact < next.pieces(file.path()).size()) {
          next = next.cut(file.path(), intact);
        }
        checked.put(file.path(), now);
      }
    }
    return next;
  }

  private static BasicFileAttributes attributes(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class);
  }

  /**
   * Returns the number of stored pieces with which a file begins. A file that was looked at before
   * has grown, or was replaced: its last piece shows which.
   */
  private static int intact(Path file, long bytes, List<Piece> pieces, boolean known)
      throws IOException {
    if (pieces.isEmpty()) {
      return 0;
    }
    if (known && isThere(file, bytes, pieces, pieces.size() - 1)) {
      return pieces.size();
    }
    int intact = 0;
    while (intact < pieces.size() && isThere(file, bytes, pieces, intact)) {
      intact++;
    }
    return intact;
  }

  private static boolean isThere(Path file, long bytes, List<Piece> pieces, int index)
      throws IOException {
    long offset = pieces.stream().limit(index).mapToLong(Piece::bytes).sum();
    Piece piece = pieces.get(index);
    return offset + piece.bytes() <= bytes
        && Sha256.hex(read(file, offset, (int) piece.bytes())).equals(piece.sha256());
  }

  /**
   * Bytes of a file.
   *
   * @throws EOFException if it has become shorter
   */
  static byte[] read(Path file, long offset, int bytes) throws IOException {
    ByteBuffer content = ByteBuffer.allocate(bytes);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      while (content.hasRemaining()) {
        if (channel.read(content, offset + content.position()) < 0) {
          throw new EOFException("%s has become shorter".formatted(file));
        }
      }
    }
    return content.array();
  }
}
