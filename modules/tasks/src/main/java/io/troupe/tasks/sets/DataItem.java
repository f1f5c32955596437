package io.troupe.tasks.sets;

import java.util.Map;
import java.util.TreeMap;

/**
 * The question of a row, before the run adds system prompt, chat template and examples.
 *
 * @param id within the data set, independent of filters
 * @param question in the data set's template
 * @param answer expected answer that a verifier compares with: see {@link
 *     io.troupe.core.prompt.Prompt#answer()}
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

  /** Creates an item without facets and without settings of its own. */
  public static DataItem of(String id, String question, String answer, String solution) {
    return new DataItem(id, question, answer, solution, Map.of(), "", "", "");
  }

  /** Returns this item with one more facet. */
  DataItem with(String facet, String value) {
    Map<String, String> more = new TreeMap<>(facets);
    more.put(facet, value);
    return new DataItem(
        id, question, answer, solution, more, systemPrompt, assistantPrefix, verifier);
  }

  /** Returns this item with a system prompt and assistant prefix of its own. */
  public DataItem worded(String system, String prefix) {
    return new DataItem(id, question, answer, solution, facets, system, prefix, verifier);
  }
}
