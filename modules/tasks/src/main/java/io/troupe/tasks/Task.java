package io.troupe.tasks;

import io.troupe.core.prompt.Prompt;
import java.util.List;

/** A source of prompts, loaded whole and immutable. The prompts of both lists have unique ids. */
public interface Task {
  /** How the run goes through the training prompts. */
  enum Order {
    /** In a new order each epoch; the run knows the epoch's seed. */
    SHUFFLED,
    /** As they are listed, in every epoch: a curriculum, or a mixture. */
    LISTED
  }

  /** What the task is, in one word: in banners, metrics and configuration. */
  String name();

  /** Prompts to learn from, at least one. */
  List<Prompt> train();

  /** Prompts never trained on, for evaluation; may be empty. */
  List<Prompt> heldOut();

  /**
   * The characters a character tokenizer needs for every prompt and every completion worth a
   * reward, each once, in ascending code point order.
   */
  String alphabet();

  /** How the run goes through {@link #train()}. */
  Order order();

  /** The data sets it is made of: every prompt's source is among their names. */
  List<TaskSource> sources();

  /** What its data sets have and the run does not use. */
  default List<ExcludedPrompts> leftOut() {
    return sources().stream().flatMap(each -> each.report().left().stream()).distinct().toList();
  }

  /** What a source allows its completions. */
  default SourceLimits limits(String source) {
    return sources().stream()
        .filter(each -> each.name().equals(source))
        .map(TaskSource::limits)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no source is named " + source));
  }
}
