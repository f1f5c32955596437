package io.troupe.core.rollout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.reward.PassMark;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GroupSizeTest {
  private static final GroupSize TWO_OF_EACH = new GroupSize(4, 2, 2, 10, new PassMark(0.5));

  @Test
  void next_enoughOfBoth_isNothing() {
    assertThat(TWO_OF_EACH.next(List.of())).isEqualTo(4);
    assertThat(TWO_OF_EACH.next(List.of(1.0, 0.5, 0.4, 0.0))).isZero();
    assertThat(TWO_OF_EACH.next(List.of(1.0, 0.4, 0.4, 0.0))).isEqualTo(4);
    assertThat(TWO_OF_EACH.next(Collections.nCopies(8, 1.0))).isEqualTo(2);
    assertThat(TWO_OF_EACH.next(Collections.nCopies(10, 1.0))).isZero();
  }

  @Test
  void next_byAnotherMark_countsWhatPassesByIt() {
    List<Double> rewards = List.of(1.0, 2.0, 1.0, 2.0);
    assertThat(TWO_OF_EACH.next(rewards)).isEqualTo(4);
    assertThat(TWO_OF_EACH.by(new PassMark(2)).next(rewards)).isZero();
    assertThat(TWO_OF_EACH.by(new PassMark(2)).accepts(rewards)).isTrue();
  }

  @Test
  void accepts_groupOfOneSize_isThatSizeWhateverItsRewards() {
    GroupSize four = GroupSize.fixed(4);
    assertThat(four.accepts(Collections.nCopies(4, 0.0))).isTrue();
    assertThat(four.accepts(Collections.nCopies(3, 0.0))).isFalse();
    assertThat(four.accepts(Collections.nCopies(8, 0.0))).isFalse();
    assertThat(four.accepts(List.of())).isFalse();
  }

  @Test
  void accepts_groupThatGrew_isTheOneThatHadToEndThere() {
    List<Double> rewards = List.of(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0);
    assertThat(TWO_OF_EACH.accepts(rewards)).isTrue();
    assertThat(TWO_OF_EACH.accepts(rewards.subList(0, 4))).as("one right is missing").isFalse();
    assertThat(TWO_OF_EACH.accepts(rewards.reversed())).isTrue();
    assertThat(TWO_OF_EACH.accepts(List.of(1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
        .as("the first four were enough")
        .isFalse();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void accepts_ofAllBeginningsOfAnyRewards_isExactlyTheOneWhereSamplingEnds(long seed) {
    Random random = new Random(seed);
    int part = 2 + random.nextInt(6);
    int most = part + random.nextInt(40);
    int right = random.nextInt(most + 1);
    GroupSize size = new GroupSize(part, right, random.nextInt(most - right + 1), most);
    double share = random.nextDouble();
    List<Double> rewards = new ArrayList<>();
    for (int i = 0; i < most; i++) {
      rewards.add(random.nextDouble() < share ? 1.0 : 0.0);
    }
    int sampled = 0;
    List<Integer> parts = new ArrayList<>();
    for (int more = part; more > 0; more = size.next(rewards.subList(0, sampled))) {
      parts.add(more);
      sampled += more;
    }
    assertThat(sampled).isLessThanOrEqualTo(most);
    assertThat(size.parts(sampled)).isEqualTo(parts);
    for (int length = 0; length <= most; length++) {
      assertThat(size.accepts(rewards.subList(0, length)))
          .as("%s of %d completions", size, length)
          .isEqualTo(length == sampled);
    }
  }

  @Test
  void newGroupSize_withoutRoom_isRefused() {
    assertThatThrownBy(() -> new GroupSize(1, 0, 0, 1)).hasMessageContaining("2 or more");
    assertThatThrownBy(() -> new GroupSize(4, 0, 0, 3)).hasMessageContaining("at most 3");
    assertThatThrownBy(() -> new GroupSize(4, 5, 4, 8)).hasMessageContaining("5 right and 4 wrong");
  }
}
