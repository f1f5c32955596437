package io.troupe.console;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;

/**
 * The secrets that open a console.
 *
 * @param operator may look and act
 * @param reader may look
 */
public record AccessTokens(String operator, String reader) {
  /** The rights of a caller. */
  enum Role {
    READER,
    OPERATOR
  }

  /** New secrets of 192 random bits each. */
  public static AccessTokens random() {
    SecureRandom random = new SecureRandom();
    return new AccessTokens(secret(random), secret(random));
  }

  private static String secret(SecureRandom random) {
    byte[] bytes = new byte[24];
    random.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  Optional<Role> roleOf(String token) {
    // Both are compared, in constant time, so that the time of an answer reveals nothing.
    boolean operates = same(token, operator);
    boolean reads = same(token, reader);
    return operates
        ? Optional.of(Role.OPERATOR)
        : reads ? Optional.of(Role.READER) : Optional.empty();
  }

  private static boolean same(String given, String expected) {
    return MessageDigest.isEqual(
        given.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8));
  }

  /** Keeps the secrets out of logs. */
  @Override
  public String toString() {
    return "Tokens[***]";
  }
}
