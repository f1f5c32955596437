package io.troupe.gym.data;

import static io.troupe.core.Require.require;

import io.troupe.gym.item.GymItem;
import java.util.List;

/**
 * The parts of a task.
 *
 * @param validation items that steer the agent, at least one
 * @param test items that are answered once, at least one
 * @param examples that prompts of a language model may show; may be empty
 */
public record GymItems(List<GymItem> validation, List<GymItem> test, List<GymItem> examples) {
  public GymItems {
    validation = List.copyOf(validation);
    test = List.copyOf(test);
    examples = List.copyOf(examples);
    require(!validation.isEmpty(), "task.validation has no rows; name data sets that have some");
    require(!test.isEmpty(), "task.test has no rows; name data sets that have some");
  }
}
