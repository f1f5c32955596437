package io.troupe.tasks.sets;

import java.util.Map;
import java.util.TreeMap;

/**
 * The question of a row, before the run adds system prompt, chat template and examples.
 *
 * @param id within the data set, independent of filters
 * @param question in the data set's template, or a conversation
 * @param answer expected answer that a verifier compares with: see {@link
 *     io.troupe.core.prompt.Prompt#answer()}
 * @param solution a completion worth imitating; empty where the data set has none
 * @param facets by which rows are filtered, such as {@code level} and {@code subject}
 * @param own settings of this row alone
 */
public record DataItem(
    String id,
    RowQuestion question,
    String answer,
    String solution,
    Map<String, String> facets,
    OwnSettings own) {
  /**
   * A row's settings in place of those of the run and the data set.
   *
   * @param systemPrompt empty means the run's
   * @param assistantPrefix empty means the run's
   * @param verifier empty means the data set's
   * @param maxTokens most tokens of a completion, where that is fewer than the run and the data set
   *     allow; 0 means no limit of its own
   */
  public record OwnSettings(
      String systemPrompt, String assistantPrefix, String verifier, int maxTokens) {
    /** A row that says nothing. */
    public static final OwnSettings NONE = new OwnSettings("", "", "", 0);

    /** Returns the settings of a row with a verifier of its own. */
    static OwnSettings judgedBy(String verifier) {
      return new OwnSettings("", "", verifier, 0);
    }
  }

  public DataItem {
    facets = Map.copyOf(facets);
  }

  public String systemPrompt() {
    return own.systemPrompt();
  }

  public String assistantPrefix() {
    return own.assistantPrefix();
  }

  public String verifier() {
    return own.verifier();
  }

  /** Creates an item without facets and without settings of its own. */
  public static DataItem of(String id, String question, String answer, String solution) {
    return new DataItem(
        id, new RowQuestion.PlainQuestion(question), answer, solution, Map.of(), OwnSettings.NONE);
  }

  /** Returns this item with one more facet. */
  DataItem with(String facet, String value) {
    Map<String, String> more = new TreeMap<>(facets);
    more.put(facet, value);
    return new DataItem(id, question, answer, solution, more, own);
  }

  /** Returns this item with wording and a token limit of its own; its verifier stays. */
  public DataItem worded(String system, String prefix, int maxTokens) {
    return new DataItem(
        id,
        question,
        answer,
        solution,
        facets,
        new OwnSettings(system, prefix, own.verifier(), maxTokens));
  }
}
