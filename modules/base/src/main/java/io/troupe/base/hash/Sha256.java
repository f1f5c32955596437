package io.troupe.base.hash;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256, which every Java platform has. */
public final class Sha256 {
  private Sha256() {}

  /** A digest to which content is added piece by piece. */
  public static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-256", impossible);
    }
  }

  /** Returns the 32 bytes of the digest of a content. */
  public static byte[] of(byte[] content) {
    return digest().digest(content);
  }

  /** Returns the digest of a content as 64 lower-case hexadecimal digits. */
  public static String hex(byte[] content) {
    return HexFormat.of().formatHex(of(content));
  }

  /** Completes and resets a digest, and returns it as 64 lower-case hexadecimal digits. */
  public static String hex(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Returns the digest of a file's content as 64 lower-case hexadecimal digits. */
  public static String hex(Path file) throws IOException {
    MessageDigest digest = digest();
    add(digest, file);
    return hex(digest);
  }

  /** Adds a file's content to a digest. */
  public static void add(MessageDigest digest, Path file) throws IOException {
    try (OutputStream sink = new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
      Files.copy(file, sink);
    }
  }
}
