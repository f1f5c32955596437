package io.troupe.environments;

import static io.troupe.core.Require.require;

/**
 * A tool as the policy is shown it.
 *
 * @param name by which the policy calls it
 * @param description one sentence for the policy
 * @param parameters a JSON schema of the arguments, an object
 */
public record ToolSchema(String name, String description, String parameters) {
  public ToolSchema {
    require(
        name.matches("[A-Za-z_][A-Za-z0-9_-]{0,63}"),
        "a tool's name has letters, digits, _ and -, at most 64 of them, not '%s'",
        name);
  }
}
