package io.troupe.core.prompt;

import static io.troupe.core.Require.require;

/**
 * The name of a prompt, stable across runs: the same in data files, logs, curricula and reports.
 */
public record PromptId(String value) {
  public PromptId {
    require(!value.isBlank(), "a prompt id must not be blank");
  }

  @Override
  public String toString() {
    return value;
  }
}
