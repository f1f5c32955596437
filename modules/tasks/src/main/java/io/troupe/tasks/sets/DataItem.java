package io.troupe.tasks.sets;

import java.util.Map;
import java.util.TreeMap;

/**
 * A row as a question, before the run's own wrapping (system prompt, chat template, examples).
 *
 * @param id within the data set, the same whatever is filtered out
 * @param question in the data set's template
 * @param answer what a verifier judges by: see {@link io.troupe.core.prompt.Prompt#answer()}
 * @param solution a completion worth imitating; empty where the data set has none
 * @param facets by which rows are filtered, such as {@code level} and {@code subject}
 * @param systemPrompt of this row alone; empty means the run's
 * @param assistantPrefix of this row alone; empty means the run's
 * @param verifier of this row alone; empty means the data set's
 */
public record DataItem(
    String id,
    String question,
    String answer,
    String solution,
    Map<String, String> facets,
    String systemPrompt,
    String assistantPrefix,
    String verifier) {
  public DataItem {
    facets = Map.copyOf(facets);
  }

  /** An item that the data set says no more about. */
  public static DataItem of(String id, String question, String answer, String solution) {
    return new DataItem(id, question, answer, solution, Map.of(), "", "", "");
  }

  /** This item with a facet more. */
  DataItem with(String facet, String value) {
    Map<String, String> more = new TreeMap<>(facets);
    more.put(facet, value);
    return new DataItem(
        id, question, answer, solution, more, systemPrompt, assistantPrefix, verifier);
  }

  /** This item under its row's own system prompt and assistant prefix. */
  public DataItem worded(String system, String prefix) {
    return new DataItem(id, question, answer, solution, facets, system, prefix, verifier);
  }
}
