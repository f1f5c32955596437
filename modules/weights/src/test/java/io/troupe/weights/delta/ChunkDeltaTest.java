package io.troupe.weights.delta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.hash.Sha256;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ChunkDeltaTest {
  private static byte[] random(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static ByteBuffer units(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] changed(SplittableRandom random, byte[] base, double share) {
    byte[] next = base.clone();
    for (int at = 0; at + 1 < next.length; at += 2) {
      if (random.nextDouble() < share) {
        int value = ((next[at] & 0xFF) | (next[at + 1] << 8)) + (random.nextBoolean() ? 1 : -1);
        next[at] = (byte) value;
        next[at + 1] = (byte) (value >>> 8);
      }
    }
    return next;
  }

  @Test
  void encode_nothingChanged_isAFewBytes() throws DamagedDeltaException {
    byte[] same = random(new SplittableRandom(1), 4096);
    byte[] delta = ChunkDelta.encode(same, same, same.length, 100);
    byte[] made = same.clone();
    ChunkDelta.apply(delta, made, made.length);

    assertThat(delta).hasSize(2);
    assertThat(made).isEqualTo(same);
  }

  /** One in a hundred units changes by one, as bfloat16 weights do at a small learning rate. */
  @Test
  void encode_oneUnitInAHundredChanged_takesTwoPercentOrLess() throws DamagedDeltaException {
    SplittableRandom random = new SplittableRandom(2);
    byte[] base = random(random, 1 << 20);
    byte[] next = changed(random, base, 0.01);
    byte[] delta = ChunkDelta.encode(base, next, base.length, base.length / 2);
    byte[] made = base.clone();
    ChunkDelta.apply(delta, made, made.length);

    assertThat(made).isEqualTo(next);
    assertThat(delta.length).isBetween(base.length / 200, base.length / 80);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 63, 64, 65})
  void apply_anyLengthAndAllChanged_isTheChunk(int length) throws DamagedDeltaException {
    SplittableRandom random = new SplittableRandom(length);
    byte[] base = random(random, length);
    byte[] next = random(random, length);
    byte[] delta = ChunkDelta.encode(base, next, length, 1000);
    ChunkDelta.apply(delta, base, length);

    assertThat(base).isEqualTo(next);
  }

  @Test
  void encode_moreThanItIsWorth_isEmpty() {
    SplittableRandom random = new SplittableRandom(3);
    assertThat(ChunkDelta.encode(random(random, 4096), random(random, 4096), 4096, 2048)).isEmpty();
  }

  @Test
  void apply_notADelta_isRefused() {
    assertRefused("ends after 3 bytes", 1, 2, 0);
    assertRefused("a change at byte 200 of 8", 1, 100, 2);
    assertRefused("9 changes, of at most 4, in 3 bytes", 9, 1, 1, 1);
    assertRefused("4 changes, of at most 4, in 1 bytes", 4, 1);
    assertRefused("an exception for change 7 of 1", 1, 0, 0, 1, 7, 2);
    assertRefused("1 bytes too many", 0, 0, 5);
    assertRefused("a number of more than 5 bytes", -1, -1, -1, -1, -1, 0);
  }

  private static void assertRefused(String message, int... delta) {
    byte[] bytes = new byte[delta.length];
    for (int i = 0; i < delta.length; i++) {
      bytes[i] = (byte) delta[i];
    }
    assertThatThrownBy(() -> ChunkDelta.apply(bytes, new byte[8], 8))
        .isInstanceOf(DamagedDeltaException.class)
        .hasMessage(message);
  }

  /**
   * A receiver follows a thousand versions. It misses some, its deltas are cut or changed on the
   * way, and its base may be damaged; the digest of each version is that of the sender all the
   * same, because what a delta does not make right is taken whole.
   */
  @Test
  void apply_thousandVersionsWithLossesAndDamage_hasTheSendersDigests() {
    SplittableRandom random = new SplittableRandom(20261123);
    byte[] sent = random(random, 3001);
    byte[] held = sent.clone();
    byte[] heldBase = sent;
    int deltas = 0;
    int whole = 0;
    for (int version = 1; version <= 1000; version++) {
      byte[] next = changed(random, sent, random.nextDouble() * 0.05);
      if (random.nextInt(10) > 0) { // else this version is lost to the receiver
        byte[] delta = ChunkDelta.encode(heldBase, next, next.length, next.length / 2);
        byte[] arrived = delta.clone();
        if (random.nextInt(5) == 0 && arrived.length > 0) {
          arrived[random.nextInt(arrived.length)] ^= (byte) (1 << random.nextInt(8));
        }
        if (random.nextInt(8) == 0) {
          arrived = Arrays.copyOf(arrived, random.nextInt(arrived.length + 1));
        }
        byte[] made = held.clone();
        if (random.nextInt(20) == 0) {
          made[random.nextInt(made.length)]++;
        }
        boolean right;
        try {
          ChunkDelta.apply(arrived, made, made.length);
          right = Sha256.hex(made).equals(Sha256.hex(next));
        } catch (DamagedDeltaException refused) {
          right = false;
        }
        held = right ? made : next.clone();
        heldBase = next;
        deltas += right ? 1 : 0;
        whole += right ? 0 : 1;
        assertThat(Sha256.hex(held)).as("version %d", version).isEqualTo(Sha256.hex(next));
      }
      sent = next;
    }
    assertThat(deltas).isGreaterThan(400);
    assertThat(whole).isGreaterThan(100);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void addAndApplyTo_partByPart_areTheDeltaAndTheChunkOfTheWhole(long seed)
      throws DamagedDeltaException {
    SplittableRandom random = new SplittableRandom(seed);
    int length = random.nextInt(3000);
    byte[] base = random(random, length);
    byte[] next = changed(random, base, random.nextDouble(0.3));
    ChunkDelta coder = new ChunkDelta(length, length + 8);
    for (int from = 0; from < length; ) {
      int count = Math.min(length - from, 8 * (1 + random.nextInt(40)));
      assertThat(
              coder.add(
                  units(Arrays.copyOfRange(base, from, from + count)),
                  units(Arrays.copyOfRange(next, from, from + count)),
                  from,
                  count))
          .isTrue();
      from += count;
    }
    byte[] delta = coder.delta();
    assertThat(delta).isEqualTo(ChunkDelta.encode(base, next, length, length + 8));

    DeltaChanges changes = DeltaChanges.read(delta, length);
    byte[] made = base.clone();
    for (int from = 0; from < length; ) {
      int count = Math.min(length - from, 2 * (1 + random.nextInt(100)));
      byte[] part = Arrays.copyOfRange(base, from, from + count);
      changes.applyTo(units(part), from, count);
      System.arraycopy(part, 0, made, from, count);
      from += count;
    }
    assertThat(made).isEqualTo(next);
  }
}
