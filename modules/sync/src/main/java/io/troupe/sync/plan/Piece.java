package io.troupe.sync.plan;

/**
 * A run of bytes of a file that is stored as one object. Its key holds its content's hash, so that
 * no piece is ever overwritten by another content.
 *
 * @param sha256 of the content, in hex
 */
public record Piece(long bytes, String sha256) {
  private static final int HASH_DIGITS = 16;

  /** The key of this piece of a file. */
  public String key(String path, long offset) {
    return "%s/%015d-%s".formatted(path, offset, sha256.substring(0, HASH_DIGITS));
  }
}
