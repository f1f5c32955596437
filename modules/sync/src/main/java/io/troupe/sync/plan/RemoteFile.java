package io.troupe.sync.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A file as the pieces that are stored of it.
 *
 * @param path within the run folder, with '/'
 * @param pieces in order, without gaps
 */
public record RemoteFile(String path, List<Piece> pieces) {
  public RemoteFile {
    pieces = List.copyOf(pieces);
  }

  public long bytes() {
    return bytesOf(pieces.size());
  }

  /** Bytes of the first pieces. */
  long bytesOf(int first) {
    return pieces.stream().limit(first).mapToLong(Piece::bytes).sum();
  }

  /** Returns the keys of the file's pieces, in order. */
  public List<String> keys() {
    List<String> keys = new ArrayList<>();
    long offset = 0;
    for (Piece piece : pieces) {
      keys.add(piece.key(path, offset));
      offset += piece.bytes();
    }
    return keys;
  }

  void addKeys(Set<String> all) {
    all.addAll(keys());
  }

  /** The file with a piece in place of those from an index on. */
  public RemoteFile with(int index, Piece piece) {
    List<Piece> next = new ArrayList<>(pieces.subList(0, index));
    next.add(piece);
    return new RemoteFile(path, next);
  }
}
