package io.troupe.core.reward;

import java.util.List;

/**
 * The part of a row by which a verifier judges a completion. Whatever else a row holds does not
 * count.
 */
public sealed interface JudgedBy {
  /** The field {@code answer}: one text or number. */
  record OneAnswer() implements JudgedBy {}

  /** The field {@code answer}: a text or number, or a list of those that are accepted. */
  record AcceptedTexts() implements JudgedBy {}

  /** The field {@code answer} where there is one, of whatever form; lists and objects as JSON. */
  record AnyAnswer() implements JudgedBy {}

  /**
   * Fields that a JSON object holds.
   *
   * @param names of the fields that the verifier reads; it says which of them it needs
   */
  record NamedFields(List<String> names) implements JudgedBy {
    public NamedFields {
      names = List.copyOf(names);
    }

    public NamedFields(String... names) {
      this(List.of(names));
    }
  }

  /** Everything: the field {@code answer} if there is no other field, else all fields as JSON. */
  record AllFields() implements JudgedBy {}
}
