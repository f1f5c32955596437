package io.troupe.config.binding;

import java.io.Serial;
import java.util.List;
import java.util.stream.Collectors;

/** A configuration that breaks rules; the message lists all of them, one a line. */
public final class ConfigurationException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  private final transient List<ConfigViolation> violations;

  /** Refuses a configuration for {@code violations}, at least one. */
  public ConfigurationException(List<ConfigViolation> violations) {
    super(violations.stream().map(ConfigViolation::toString).collect(Collectors.joining("\n")));
    this.violations = List.copyOf(violations);
  }

  /** Returns all violations, in the order of the file. */
  public List<ConfigViolation> violations() {
    return violations;
  }
}
