package io.troupe.tasks;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.supervised.SupervisedExample;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A source of prompts, loaded whole and immutable. The prompts of both lists have unique ids. */
public interface Task {
  /** The order in which the run admits the training prompts. */
  enum Order {
    /** A new order each epoch, from the epoch's seed. */
    SHUFFLED,
    /** The listed order, in every epoch: a curriculum, or a mixture. */
    LISTED
  }

  /** Returns the name of the task in banners, metrics and configuration, one word. */
  String name();

  /** Returns the training prompts, at least one. */
  List<Prompt> train();

  /** Returns the prompts for evaluation, which are never trained on; may be empty. */
  List<Prompt> heldOut();

  /**
   * Returns the characters that a character tokenizer needs for every prompt and every completion
   * that can earn a reward, each once, in ascending code point order.
   */
  String alphabet();

  /** Returns the order in which the run admits {@link #train()}. */
  Order order();

  /** Returns the sources of the task: the source of every prompt is among their names. */
  List<TaskSource> sources();

  /** Returns the facets of a prompt's row, such as level and subject; none if it has none. */
  default Map<String, String> facets(PromptId prompt) {
    return Map.of();
  }

  /**
   * Returns the most tokens of a completion of each prompt whose row has a limit of its own; what
   * is not there has none.
   */
  default Map<PromptId, Integer> ownLimits() {
    return Map.of();
  }

  /**
   * Returns examples that the run imitates beside its prompts; none if it has no data sets for
   * that.
   */
  default List<SupervisedExample> imitated() {
    return List.of();
  }

  /** Returns the rows and prompts of its data sets that the run does not use. */
  default List<ExcludedPrompts> leftOut() {
    return Stream.concat(
            refused().stream(), sources().stream().flatMap(each -> each.report().left().stream()))
        .distinct()
        .toList();
  }

  /** Returns the rows that break a rule and are therefore left out. */
  default List<ExcludedPrompts> refused() {
    return sources().stream().flatMap(each -> each.report().refused().stream()).distinct().toList();
  }

  /** Returns the limits of the completions of a source. */
  default SourceLimits limits(String source) {
    return source(source).limits();
  }

  /** Returns the source of a name. */
  default TaskSource source(String name) {
    return sources().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no source is named " + name));
  }
}
