package io.troupe.gym.skill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.SplitMix64;
import io.troupe.gym.skill.SkillAction.Exploit;
import io.troupe.gym.skill.SkillAction.Explore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SkillPolicyTest {
  private static final Explore TWO = new Explore(2, 10);

  private static SkillHistory history(SkillTree tree, double... rewards) {
    List<SkillStep> steps = new ArrayList<>();
    for (double reward : rewards) {
      steps.add(new SkillStep(TWO, 10, reward));
    }
    return new SkillHistory(tree, steps, Map.of());
  }

  private static SkillTree tree(Subskill... subskills) {
    return new SkillTree("sub", List.of(subskills));
  }

  @Test
  void explored_aNameThatIsThere_isPassedOverAndOldOnesGetNothing() {
    SkillTree tree = tree(new Subskill("a", 7, 3, false)).explored(List.of("b", "a", "b"), 5);

    assertThat(tree.subskills())
        .containsExactly(new Subskill("a", 0, 3, false), new Subskill("b", 5, 0, false));
  }

  @Test
  void exploited_belowZeroOrUnknown_isZeroOrRefused() {
    SkillTree tree = tree(new Subskill("a", 7, 3, false));

    assertThat(tree.exploited(Map.of("a", -9)).allocated()).isZero();
    assertThatThrownBy(() -> tree.exploited(Map.of("c", 1)))
        .hasMessage("the skill sub has no subskill c to change the allocation of");
    assertThatThrownBy(() -> tree(new Subskill("a", 1, 0, false), new Subskill("a", 1, 0, false)))
        .hasMessage("the skill sub has the subskill a twice");
  }

  @Test
  void pruned_aSubskill_getsNoMoreRows() {
    SkillTree tree = tree(new Subskill("a", 7, 3, false)).pruned("a").exploited(Map.of("a", 4));

    assertThat(tree.allocated()).isZero();
  }

  @Test
  void alternating_untilItsRows_exploresAtEveryCall() {
    SkillPolicy policy = new SkillPolicy.Alternating(TWO, 20);

    assertThat(policy.next(history(tree(new Subskill("a", 10, 19, false))), 1)).isEqualTo(TWO);
    assertThat(policy.next(history(tree(new Subskill("a", 10, 20, false))), 1))
        .isEqualTo(new Exploit(Map.of("a", -10)));
  }

  @Test
  void fillBalanced_grownTree_fillsEachExactly() {
    SkillPolicy policy = new SkillPolicy.FillBalanced(TWO, 3, 50, 20);
    SkillTree grown =
        tree(
            new Subskill("a", 10, 50, false),
            new Subskill("b", 5, 40, false),
            new Subskill("c", 0, 0, false));

    assertThat(policy.next(history(tree(new Subskill("a", 1, 1, false))), 1)).isEqualTo(TWO);
    assertThat(grown.exploited(((Exploit) policy.next(history(grown), 1)).delta()).subskills())
        .extracting(Subskill::allocation)
        .containsExactly(0, 10, 20);
  }

  @Test
  void threshold_aRewardAboveIt_addsToEachElseExplores() {
    SkillPolicy policy = new SkillPolicy.Threshold(0.01, 10, TWO);
    SkillTree tree = tree(new Subskill("a", 10, 0, false));

    assertThat(policy.next(history(tree, 0.02), 1)).isEqualTo(new Exploit(Map.of("a", 10)));
    assertThat(policy.next(history(tree, 0.01), 1)).isEqualTo(TWO);
    assertThat(policy.next(history(tree), 1)).isEqualTo(TWO);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void coin_anySeed_keepsAllocationsWithinItsBound(long seed) {
    SkillTree tree = SkillTree.of("sub");
    for (int call = 0; call < 6; call++) {
      tree =
          switch (new SkillPolicy.Coin(20).next(history(tree), seed * 10 + call)) {
            case Explore(int subskills, int rows) -> {
              List<String> names = new ArrayList<>();
              for (int i = 0; i < subskills; i++) {
                names.add("s" + call + "-" + i);
              }
              yield tree.explored(names, rows);
            }
            case Exploit(Map<String, Integer> delta) -> tree.exploited(delta);
          };
      assertThat(tree.subskills()).allMatch(each -> each.allocation() <= 20);
    }
    assertThat(tree.subskills()).isNotEmpty();
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void divide_anyAccuracies_addsUpAndKeepsTheFloor(long seed) {
    int rows = Math.floorMod(SplitMix64.mix(seed), 500);
    Map<String, Double> accuracies = new TreeMap<>();
    for (int i = 0; i < 1 + seed % 7; i++) {
      accuracies.put("s" + i, (SplitMix64.mix(seed * 10 + i) >>> 11) * 0x1p-53);
    }
    for (RowShares shares :
        List.of(new RowShares.Weakness(0.2), new RowShares.Uniform(), new RowShares.Drawn())) {
      Map<String, Integer> given = shares.divide(rows, accuracies, seed);
      assertThat(given.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(rows);
      assertThat(given.keySet()).isEqualTo(accuracies.keySet());
    }
    int least = (int) (0.2 * rows / accuracies.size());
    assertThat(new RowShares.Weakness(0.2).divide(rows, accuracies, seed).values())
        .allMatch(given -> given >= least);
  }

  @Test
  void divide_byWeakness_isTheFormula() {
    Map<String, Integer> given =
        new RowShares.Weakness(0.2).divide(100, Map.of("a", 1.0, "b", 1.0, "c", 0.5, "d", 0.0), 1);

    // floor 5 each; 80 in proportion 0 : 0 : 0.5 : 1
    assertThat(given).isEqualTo(Map.of("a", 5, "b", 5, "c", 32, "d", 58));
    assertThat(new RowShares.Weakness(0.2).divide(10, Map.of("a", 1.0, "b", 1.0), 1))
        .isEqualTo(Map.of("a", 5, "b", 5));
  }

  @Test
  void within_aBudget_lowersInProportion() {
    SkillTree tree =
        tree(new Subskill("a", 30, 0, false), new Subskill("b", 10, 0, false)).within(20);

    assertThat(tree.subskills()).extracting(Subskill::allocation).containsExactly(15, 5);
    assertThat((double) tree.allocated()).isCloseTo(20, within(1.0));
  }

  @Test
  void withoutGain_patienceOfTwo_namesWhatNeverGained() {
    SkillTree tree = tree(new Subskill("a", 1, 9, false), new Subskill("b", 1, 9, false));

    assertThat(
            SkillPolicy.withoutGain(
                tree, Map.of("a", List.of(0.2, 0.0, -0.1), "b", List.of(0.0, 0.1)), 2))
        .containsExactly("a");
  }
}
