package io.troupe.weights.cache;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;

/**
 * Names one published version exactly: all that a node needs to fetch it and to know it for the
 * right one.
 *
 * @param version the trainer's name of the version; two runs of a trainer may give different
 *     weights the same name
 * @param digest SHA-256, in hex, of the manifest, which holds the digest of every chunk
 * @param bytes of all files
 */
public record WeightRef(WeightVersion version, String digest, long bytes) {
  private static final int HEX_DIGITS = 64;
  private static final int SHORT = 16;

  public WeightRef {
    require(
        digest.length() == HEX_DIGITS && digest.chars().allMatch(c -> Character.digit(c, 16) >= 0),
        "a manifest's digest is %d hexadecimal digits, not '%s'",
        HEX_DIGITS,
        digest);
    require(bytes >= 0, "published weights have 0 bytes or more, not %d", bytes);
  }

  /** Names the directory in a cache: version, so that people find it, and digest. */
  public String folder() {
    return "v%08d-%s".formatted(version.number(), shortDigest());
  }

  public String shortDigest() {
    return digest.substring(0, SHORT);
  }

  @Override
  public String toString() {
    return version + " (" + shortDigest() + ")";
  }
}
