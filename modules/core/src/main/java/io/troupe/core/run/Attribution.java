package io.troupe.core.run;

import static io.troupe.core.Require.require;

/**
 * The person or program that gave an order, and the reason: what the journal keeps of every {@link
 * OperatorCommand}.
 *
 * @param by a person or a program, as the console knows it
 * @param why, as they wrote it; "" when they gave no reason
 */
public record Attribution(String by, String why) {
  /** Most characters of each; more is refused. */
  public static final int MAX_CHARACTERS = 500;

  public Attribution {
    require(!by.isBlank(), "an order must say who gives it");
    require(
        by.length() <= MAX_CHARACTERS && why.length() <= MAX_CHARACTERS,
        "an order's name and reason have at most %d characters each, not %d and %d",
        MAX_CHARACTERS,
        by.length(),
        why.length());
  }
}
