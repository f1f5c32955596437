package io.troupe.environments.command;

import io.troupe.environments.EnvironmentProvider;
import io.troupe.environments.ToolSchema;
import java.util.List;
import java.util.Optional;

/** Environments whose tools a user's program names; it is started for that, once. */
public abstract class ProgramProvider implements EnvironmentProvider {
  private final ProgramSettings settings;
  private Optional<List<ToolSchema>> tools = Optional.empty();

  /** Environments of a program, which is not started yet. */
  protected ProgramProvider(ProgramSettings settings) {
    this.settings = settings;
  }

  /** Starts the program, and returns the tools that it names. */
  protected abstract List<ToolSchema> namedTools();

  protected final ProgramSettings settings() {
    return settings;
  }

  @Override
  public final String name() {
    return settings.command().getFirst();
  }

  @Override
  public final synchronized List<ToolSchema> tools() {
    if (tools.isEmpty()) {
      tools = Optional.of(namedTools());
    }
    return tools.orElseThrow();
  }
}
