package io.troupe.sync.plan;

/**
 * A whole checkpoint in the store: every file its manifest lists, and the manifest.
 *
 * @param manifest SHA-256 of its {@code manifest.json}, which makes its folder's name unique
 * @param writer the copy's writer that stored it, who alone deletes it
 */
public record RemoteCheckpoint(long step, long bytes, String manifest, String writer) {
  private static final int HASH_DIGITS = 12;

  /** Returns the beginning of the keys of its files. */
  public String folder() {
    return "checkpoints/step%d-%s/".formatted(step, manifest.substring(0, HASH_DIGITS));
  }
}
