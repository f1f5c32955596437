package io.troupe.gym.arithmetic;

import static io.troupe.core.Require.require;

import io.troupe.core.prompt.PromptOrder;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.item.TrainingRow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Arithmetic divided once and for all seeds: of each leaf's items some validate, some test, and the
 * others may be trained on. A base student sees the first rows of a leaf in the order of its seed,
 * and an agent takes the rows behind them, so that new rows are new.
 */
public final class ArithmeticGym implements GymTask {
  private static final int SPLIT_SEED = 20;

  private final Map<ArithmeticLeaf, List<GymItem>> pools = new EnumMap<>(ArithmeticLeaf.class);
  private final List<GymItem> validation = new ArrayList<>();
  private final List<GymItem> test = new ArrayList<>();

  /**
   * Divides the items.
   *
   * @param validationItems of each leaf
   * @param testItems of each leaf
   */
  public ArithmeticGym(int validationItems, int testItems) {
    for (ArithmeticLeaf leaf : ArithmeticLeaf.values()) {
      List<GymItem> all = shuffled(leaf.items(), SPLIT_SEED + leaf.number());
      int held = validationItems + testItems;
      require(
          held < all.size(),
          "task.validation_items (%d) and test_items (%d) leave nothing to train on of the %d items"
              + " of %s; lower one",
          validationItems,
          testItems,
          all.size(),
          leaf.path());
      validation.addAll(all.subList(0, validationItems));
      test.addAll(all.subList(validationItems, held));
      pools.put(leaf, List.copyOf(all.subList(held, all.size())));
    }
  }

  @Override
  public String name() {
    return "arithmetic";
  }

  @Override
  public List<GymItem> validation() {
    return List.copyOf(validation);
  }

  @Override
  public List<GymItem> test() {
    return List.copyOf(test);
  }

  @Override
  public GymItem item(String skill, String subskill, String prompt, String answer) {
    String text = prompt.strip().replace("=", "");
    String id = text.startsWith("r") ? text.substring(1) : text;
    String[] operands = id.split("\\+", -1);
    if (operands.length == 2 && operands[0].compareTo(operands[1]) > 0) {
      id = operands[1] + "+" + operands[0]; // a sum is one item in either order
    }
    return new GymItem(id.isBlank() ? prompt : id, skill, subskill, prompt.strip(), answer.strip());
  }

  @Override
  public List<GymItem> examples(String skill, String subskill, int most) {
    return pools.entrySet().stream()
        .filter(
            each ->
                each.getKey().skill().equals(skill)
                    && (subskill.isEmpty() || each.getKey().subskill().equals(subskill)))
        .flatMap(each -> each.getValue().stream().limit(most))
        .limit(most)
        .toList();
  }

  @Override
  public boolean passes(GymItem item, String response) {
    return response.strip().equals(item.answer());
  }

  /** Returns every character that a student reads or writes. */
  public static String alphabet() {
    return ArithmeticLeaf.ALPHABET;
  }

  /** Returns the leaf of a path, if there is one. */
  public static Optional<ArithmeticLeaf> leaf(String path) {
    return List.of(ArithmeticLeaf.values()).stream()
        .filter(each -> each.path().equals(path))
        .findFirst();
  }

  /** Returns the paths of all leaves. */
  public static List<String> leaves() {
    return List.of(ArithmeticLeaf.values()).stream().map(ArithmeticLeaf::path).toList();
  }

  /**
   * Returns training rows of a leaf in the order of a seed, as many as there are.
   *
   * @param from the first one
   */
  List<TrainingRow> rows(ArithmeticLeaf leaf, long seed, int from, int rows) {
    List<GymItem> pool = pools.getOrDefault(leaf, List.of());
    List<TrainingRow> chosen = new ArrayList<>();
    for (int i = from; i < Math.min(pool.size(), from + rows); i++) {
      GymItem item = pool.get(PromptOrder.at(seed, leaf.number(), i, pool.size()));
      chosen.add(new TrainingRow(leaf.path() + "#" + item.id(), item, item.answer()));
    }
    return chosen;
  }

  /** Returns the rows of the base student: the same number of every leaf but the weak ones. */
  public List<TrainingRow> baseRows(List<String> weak, int rowsOfLeaf, long seed) {
    List<TrainingRow> rows = new ArrayList<>();
    for (ArithmeticLeaf leaf : ArithmeticLeaf.values()) {
      if (!weak.contains(leaf.path())) {
        rows.addAll(rows(leaf, seed, 0, rowsOfLeaf));
      }
    }
    return rows;
  }

  private static List<GymItem> shuffled(List<GymItem> items, long seed) {
    List<GymItem> shuffled = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      shuffled.add(items.get(PromptOrder.at(seed, 0, i, items.size())));
    }
    return shuffled;
  }
}
