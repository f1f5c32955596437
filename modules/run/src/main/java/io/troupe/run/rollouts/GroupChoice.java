package io.troupe.run.rollouts;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Which groups of a recorded run are looked at. */
enum GroupChoice {
  ALL(_ -> true),
  DEGENERATE(RolloutGroup::isDegenerate),
  WRONG(RolloutGroup::nonePasses),
  RIGHT(RolloutGroup::allPass),
  TRUNCATED(group -> group.truncated() > 0);

  private final Predicate<RolloutGroup> takes;

  GroupChoice(Predicate<RolloutGroup> takes) {
    this.takes = takes;
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
            .map(each -> each.takes)
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
