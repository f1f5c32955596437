package io.troupe.core.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PromptOrderTest {
  private static int[] order(long seed, long epoch, int prompts) {
    return IntStream.range(0, prompts).map(i -> PromptOrder.at(seed, epoch, i, prompts)).toArray();
  }

  private static void assertPermutation(long seed, long epoch, int prompts) {
    BitSet seen = new BitSet(prompts);
    for (int prompt : order(seed, epoch, prompts)) {
      seen.set(prompt);
    }
    assertThat(seen.cardinality()).as("%d prompts, epoch %d", prompts, epoch).isEqualTo(prompts);
    assertThat(seen.length()).isEqualTo(prompts);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void at_anySizeSeedAndEpoch_isAPermutation(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 5; i++) {
      assertPermutation(random.nextLong(), random.nextLong(1000), 1 + random.nextInt(2000));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 1023, 1024, 1025, 1_000_000})
  void at_sizesAroundPowersOfTwo_isAPermutation(int prompts) {
    assertPermutation(3, 1, prompts);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void at_anotherEpochOrSeed_isAnotherOrder(long seed) {
    int[] order = order(seed, 0, 100);
    assertThat(order(seed, 0, 100)).isEqualTo(order);
    assertThat(order(seed, 1, 100)).isNotEqualTo(order);
    assertThat(order(seed + 1, 0, 100)).isNotEqualTo(order);
  }

  /** Each prompt is first equally often: 10 expected of 1,000 seeds, 100 prompts. */
  @Test
  void at_manySeeds_favoursNoPrompt() {
    int[] first = new int[100];
    for (long seed = 0; seed < 1000; seed++) {
      first[PromptOrder.at(seed, 0, 0, 100)]++;
    }
    assertThat(IntStream.of(first).max().orElseThrow()).isLessThan(26);
    assertThat(IntStream.of(first).filter(count -> count == 0).count()).isLessThan(3);
  }

  @Test
  void at_positionOutsideThePool_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PromptOrder.at(1, 0, 5, 5))
        .withMessage("position 5 lies outside a pool of 5 prompts");
    assertThatIllegalArgumentException().isThrownBy(() -> PromptOrder.at(1, 0, -1, 5));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PromptOrder.at(1, 0, 0, 0))
        .withMessage("a pool holds at least one prompt, not 0");
  }

  @Test
  void advance_throughAPool_wrapsIntoTheNextEpoch() {
    PromptCursor cursor = PromptCursor.START.advance(2);
    assertThat(cursor).isEqualTo(new PromptCursor(0, 1));
    assertThat(cursor.advance(2)).isEqualTo(new PromptCursor(1, 0));
    assertThat(PromptCursor.START.advance(1)).isEqualTo(new PromptCursor(1, 0));
  }

  @Test
  void cursor_negative_isRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new PromptCursor(-1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> new PromptCursor(0, -1));
    assertThatIllegalArgumentException().isThrownBy(() -> new PromptId(" "));
    assertThat(new PromptId("p1")).hasToString("p1");
  }
}
