package io.troupe.run.compose;

import io.troupe.config.rollout.EnvironmentSection;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentProvider;
import io.troupe.environments.box.BoxProvider;
import io.troupe.environments.box.BoxTask;
import io.troupe.environments.command.CommandProvider;
import io.troupe.environments.harbor.HarborException;
import io.troupe.environments.harbor.HarborTask;
import io.troupe.environments.mcp.McpProvider;
import io.troupe.environments.registry.CombinedProvider;
import io.troupe.environments.registry.Environments;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/** The environments that a configuration names. */
final class EpisodeEnvironments {
  private EpisodeEnvironments() {}

  /**
   * Returns the tools of a section, which has one at least.
   *
   * @param folderSources names of the sources whose prompts are task folders
   */
  static EnvironmentProvider of(EnvironmentSection section, List<String> folderSources) {
    List<EnvironmentProvider> parts = new ArrayList<>();
    if (!section.name().isEmpty()) {
      parts.add(Environments.named(section.name()));
    }
    if (!section.command().isEmpty()) {
      parts.add(new CommandProvider(section.program(section.command())));
    }
    if (!section.mcp().isEmpty()) {
      parts.add(new McpProvider(section.program(section.mcp())));
    }
    if (!section.tools().isEmpty()) {
      parts.add(
          new BoxProvider(
              section.sandbox().settings(section.count()),
              EnumSet.copyOf(section.tools()),
              prompt ->
                  folderSources.contains(prompt.source())
                      ? folder(prompt.answer())
                      : BoxTask.NONE));
    }
    return parts.size() == 1 ? parts.getFirst() : new CombinedProvider(parts);
  }

  private static BoxTask folder(String path) {
    try {
      return HarborTask.read(Path.of(path)).box();
    } catch (IOException | HarborException broken) {
      throw new EnvironmentFailedException(
          "the task folder cannot be read: " + broken.getMessage(), broken);
    }
  }
}
