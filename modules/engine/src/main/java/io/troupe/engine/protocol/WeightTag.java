package io.troupe.engine.protocol;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name that a server is told for the weights it gets: version and the beginning of their
 * digest, so that weights of another run under the same number are noticed.
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

  /** The tag of weights with a whole digest. */
  public static WeightTag of(WeightVersion version, String digest) {
    return new WeightTag(version, digest.substring(0, DIGITS));
  }

  /** Reads a tag; none if a server calls its weights something else, such as "default". */
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
