package io.troupe.store.s3;

import static io.troupe.core.Require.require;

/**
 * The address of an object or a folder of objects.
 *
 * @param bucket that holds it
 * @param key of the object, or what the keys of a folder begin with; empty means the whole bucket
 */
public record S3Address(String bucket, String key) {
  private static final String SCHEME = "s3://";

  public S3Address {
    require(!bucket.isEmpty(), "an S3 address names a bucket: s3://bucket/key");
  }

  /** Whether a place is on S3. */
  public static boolean isOne(String place) {
    return place.startsWith(SCHEME);
  }

  /**
   * Reads {@code s3://bucket/key}.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static S3Address parse(String place) {
    require(isOne(place), "an S3 address is s3://bucket/key, not %s", place);
    String rest = place.substring(SCHEME.length());
    int slash = rest.indexOf('/');
    return slash < 0
        ? new S3Address(rest, "")
        : new S3Address(rest.substring(0, slash), rest.substring(slash + 1));
  }

  /**
   * This place as a folder: its key ends with a slash, so that {@code a} does not hold {@code ab}.
   */
  S3Address folder() {
    return key.isEmpty() || key.endsWith("/") ? this : new S3Address(bucket, key + "/");
  }

  @Override
  public String toString() {
    return SCHEME + bucket + "/" + key;
  }
}
