package io.troupe.weights.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.weights.cache.VersionManifest.Chunk;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ChunkSumsTest {
  /** The check values of RFC 3720 (CRC-32C) and ISO 3309 (CRC-32). */
  @Test
  void add_checkBytesOfTheStandards_areTheirSums() {
    ChunkSums sums = new ChunkSums();
    sums.add(ByteBuffer.wrap("123456789".getBytes(StandardCharsets.US_ASCII)));
    assertThat(sums.crc32c()).isEqualTo(0xE3069283);
    assertThat(sums.crc32()).isEqualTo(0xCBF43926);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void prove_chunkInParts_isProvenAndADamagedOneIsNot(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] bytes = new byte[16 + random.nextInt(5000)];
    random.nextBytes(bytes);
    ChunkSums sums = new ChunkSums();
    sums.add(ByteBuffer.wrap(bytes));
    Chunk chunk = new Chunk(0, bytes.length, sums.crc32c(), sums.crc32(), "");

    assertThat(sumsOf(bytes, random).prove(chunk)).isTrue();

    byte[] damage = new byte[Long.BYTES];
    do {
      random.nextBytes(damage);
    } while (ByteBuffer.wrap(damage).getLong() == 0);
    int at = random.nextInt(bytes.length - damage.length + 1);
    for (int i = 0; i < damage.length; i++) {
      bytes[at + i] ^= damage[i];
    }
    assertThat(sumsOf(bytes, random).prove(chunk)).isFalse();
  }

  private static ChunkSums sumsOf(byte[] bytes, SplittableRandom random) {
    ChunkSums sums = new ChunkSums();
    for (int from = 0; from < bytes.length; ) {
      int count = Math.min(bytes.length - from, 1 + random.nextInt(999));
      sums.add(ByteBuffer.wrap(bytes, from, count));
      from += count;
    }
    return sums;
  }
}
