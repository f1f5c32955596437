package io.troupe.run.rollouts;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Which groups of a recorded run are looked at. */
enum GroupChoice {
  ALL,
  DEGENERATE,
  WRONG,
  RIGHT,
  TRUNCATED;

  private boolean takes(RolloutGroup group) {
    return switch (this) {
      case ALL -> true;
      case DEGENERATE -> group.isDegenerate();
      case WRONG -> group.nonePasses();
      case RIGHT -> group.allPass();
      case TRUNCATED -> group.truncated() > 0;
    };
  }

  /**
   * Returns the predicate of a word: one of these, or a stage.
   *
   * @throws IllegalArgumentException if it is neither; names all
   */
  static Predicate<RolloutGroup> named(String word) {
    Optional<Predicate<RolloutGroup>> choice =
        Arrays.stream(values())
            .filter(each -> each.name().equalsIgnoreCase(word))
            .<Predicate<RolloutGroup>>map(each -> each::takes)
            .findFirst();
    Optional<Predicate<RolloutGroup>> stage =
        Arrays.stream(RolloutGroup.RolloutStage.values())
            .filter(each -> each.word().equalsIgnoreCase(word))
            .<Predicate<RolloutGroup>>map(each -> group -> group.stage() == each)
            .findFirst();
    List<String> words =
        Stream.concat(
                Arrays.stream(values()).map(each -> each.name().toLowerCase(Locale.ROOT)),
                Arrays.stream(RolloutGroup.RolloutStage.values())
                    .map(RolloutGroup.RolloutStage::word))
            .toList();
    return choice
        .or(() -> stage)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "--only is one of %s, not '%s'".formatted(String.join(", ", words), word)));
  }
}
