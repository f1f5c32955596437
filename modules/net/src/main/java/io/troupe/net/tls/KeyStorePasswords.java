package io.troupe.net.tls;

import io.troupe.base.files.PrivateFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Passwords of key stores, each in a file that only its owner can read. */
public final class KeyStorePasswords {
  private static final int BYTES = 24;

  private KeyStorePasswords() {}

  /** Makes a new random one. */
  static void make(Path file) throws IOException {
    byte[] random = new byte[BYTES];
    new SecureRandom().nextBytes(random);
    PrivateFiles.write(file, HexFormat.of().formatHex(random).getBytes(StandardCharsets.US_ASCII));
  }

  public static char[] read(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.US_ASCII).strip().toCharArray();
  }
}
