package io.troupe.engine.djl.checkpoint;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * The alphabet of byte-level pieces (GPT-2's): a printable character for each byte. A byte that is
 * printable in Latin-1 is its own character; the other bytes, in ascending order, are the
 * characters from U+0100 on.
 */
final class ByteLevelAlphabet {
  private static final int BYTES = 256;
  private static final Map<Integer, Integer> BYTE_OF = byteOf();

  private ByteLevelAlphabet() {}

  private static Map<Integer, Integer> byteOf() {
    Map<Integer, Integer> bytes = HashMap.newHashMap(BYTES);
    int next = 0x100;
    for (int value = 0; value < BYTES; value++) {
      boolean printable =
          (value >= '!' && value <= '~') || (value >= 0xA1 && value <= 0xAC) || value >= 0xAE;
      bytes.put(printable ? value : next++, value);
    }
    return bytes;
  }

  /** The bytes of a piece; a piece with another character is text, and its bytes are UTF-8. */
  static byte[] bytes(String piece) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int character : piece.codePoints().toArray()) {
      Integer value = BYTE_OF.get(character);
      if (value == null) {
        return piece.getBytes(StandardCharsets.UTF_8);
      }
      bytes.write(value);
    }
    return bytes.toByteArray();
  }
}
