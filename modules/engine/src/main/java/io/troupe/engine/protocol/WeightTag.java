package io.troupe.engine.protocol;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name under which a server gets weights: the version and the beginning of the digest, so that
 * weights of another run with the same number are noticed.
 *
 * @param version of the weights
 * @param digest the first 16 hex digits of their SHA-256
 */
public record WeightTag(WeightVersion version, String digest) {
  private static final int DIGITS = 16;
  private static final Pattern FORM = Pattern.compile("([0-9]{1,18})-([0-9a-f]{16})");

  public WeightTag {
    require(
        digest.length() == DIGITS, "a weight tag has %d digits of the digest: %s", DIGITS, digest);
  }

  /** Returns the tag of weights with a whole digest. */
  public static WeightTag of(WeightVersion version, String digest) {
    return new WeightTag(version, digest.substring(0, DIGITS));
  }

  /** Reads a tag; empty if a server has another name for its weights, such as "default". */
  public static Optional<WeightTag> parse(String text) {
    Matcher matcher = FORM.matcher(text);
    return matcher.matches()
        ? Optional.of(
            new WeightTag(new WeightVersion(Long.parseLong(matcher.group(1))), matcher.group(2)))
        : Optional.empty();
  }

  @Override
  public String toString() {
    return version.number() + "-" + digest;
  }
}
