package io.troupe.base.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class Sha256Test {
  /** FIPS 180-4's example of one block. */
  private static final String OF_ABC =
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

  private static final byte[] ABC = "abc".getBytes(StandardCharsets.US_ASCII);

  @Test
  void hex_bytes_isThePublishedDigest() {
    assertThat(Sha256.hex(ABC)).isEqualTo(OF_ABC);
    assertThat(Sha256.of(ABC)).hasSize(32).startsWith(0xba, 0x78);
  }

  @Test
  void hex_fileAndPieces_areTheSame(@TempDir Path folder) throws IOException {
    Path file = Files.write(folder.resolve("abc"), ABC);
    MessageDigest pieces = Sha256.digest();
    pieces.update((byte) 'a');
    Sha256.add(pieces, Files.writeString(folder.resolve("bc"), "bc"));
    assertThat(Sha256.hex(file)).isEqualTo(OF_ABC);
    assertThat(Sha256.hex(pieces)).isEqualTo(OF_ABC);
  }
}
