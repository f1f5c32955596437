package io.troupe.gym.arithmetic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.gym.agent.RowMaker.Occasion;
import io.troupe.gym.agent.RowMaker.RowOrder;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.TrainingRow;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ArithmeticGymTest {
  private final ArithmeticGym gym = new ArithmeticGym(150, 500);

  @Test
  void items_ofEachLeaf_areCountedOnceInEitherOrder() {
    assertThat(List.of(ArithmeticLeaf.values()).stream().map(leaf -> leaf.items().size()))
        .containsExactly(2775, 2275, 3025, 2025, 10_000);
    assertThat(ArithmeticLeaf.SUB_BORROW.items().getFirst())
        .isEqualTo(new GymItem("10-01", "sub", "borrow", "10-01=", "900"));
    assertThat(ArithmeticLeaf.REVERSE_DIGITS.items().get(12).answer()).isEqualTo("2100");
  }

  @Test
  void splits_validationTestBaseAndNewRows_shareNoItem() {
    Set<String> ids = new HashSet<>();
    int items = 0;
    for (GymItem each : gym.validation()) {
      ids.add(each.id());
      items++;
    }
    for (GymItem each : gym.test()) {
      ids.add(each.id());
      items++;
    }
    for (TrainingRow each : gym.baseRows(List.of("sub/borrow"), 1000, 1)) {
      ids.add(each.item().id());
      items++;
    }
    ArithmeticMaker maker = new ArithmeticMaker(gym, List.of("sub/borrow"), 1000);
    for (ArithmeticLeaf leaf : ArithmeticLeaf.values()) {
      Occasion first = new Occasion(1, 0, 1);
      for (TrainingRow each : maker.rows(first, order(leaf, 0))) {
        ids.add(each.item().id());
        items++;
      }
      for (TrainingRow each : maker.rows(first, order(leaf, 40))) {
        ids.add(each.item().id());
        items++;
      }
    }

    assertThat(items).isEqualTo(750 + 2500 + 4000 + 400);
    assertThat(ids).hasSize(items);
  }

  private static RowOrder order(ArithmeticLeaf leaf, int before) {
    return new RowOrder(leaf.skill(), leaf.subskill(), before, 40, List.of());
  }

  @Test
  void passes_theDigitsReversed_andNothingElse() {
    GymItem item = new GymItem("37+45", "add", "carry", "37+45=", "280");

    assertThat(gym.passes(item, "280")).isTrue();
    assertThat(gym.passes(item, "082")).isFalse();
    assertThat(gym.passes(item, "")).isFalse();
  }

  @Test
  void construct_withoutRowsLeft_isRefusedWithTheLeaf() {
    assertThatThrownBy(() -> new ArithmeticGym(1025, 1000)).hasMessageContaining("sub/borrow");
  }
}
