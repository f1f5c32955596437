package io.troupe.gateway.fields;

import java.util.List;
import java.util.Map;

/** The values that a field may have. */
public sealed interface FieldShape {
  /** Any value. */
  record Any() implements FieldShape {}

  /** A text. */
  record Text() implements FieldShape {}

  /** True or false. */
  record Flag() implements FieldShape {}

  /** A whole number from {@code min} to {@code max}. */
  record Whole(long min, long max) implements FieldShape {}

  /**
   * A finite number from {@code min} to {@code max}.
   *
   * @param above whether the number is greater than {@code min}
   */
  record Decimal(double min, boolean above, double max) implements FieldShape {}

  /** One of some texts. */
  record OneOf(List<String> texts) implements FieldShape {
    public OneOf {
      texts = List.copyOf(texts);
    }
  }

  /** A text that is not empty, or a list of them. */
  record Stops() implements FieldShape {}

  /** A list of token ids. */
  record Ids() implements FieldShape {}

  /** An object with any members. */
  record Members() implements FieldShape {}

  /** An object with these fields and no others. */
  record Fields(Map<String, FieldRule> rules) implements FieldShape {
    public Fields {
      rules = Map.copyOf(rules);
    }
  }

  /** A list of values of one shape. */
  record Each(FieldShape shape) implements FieldShape {}

  /** A text, or a value of another shape. */
  record TextOr(FieldShape shape) implements FieldShape {}
}
