package io.troupe.environments.box;

import io.troupe.core.prompt.Prompt;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.EnvironmentProvider;
import io.troupe.environments.ToolSchema;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Environments that are boxes: a policy's own sessions and files, behind the walls of the code
 * verifier. docs/episodes.md says what a policy can do there, and what it cannot.
 */
public final class BoxProvider implements EnvironmentProvider {
  private final BoxSettings settings;
  private final List<ToolSchema> tools;
  private final Function<Prompt, BoxTask> tasks;

  /** Boxes with these tools, for prompts without files. */
  public BoxProvider(BoxSettings settings, Set<BoxTool> tools) {
    this(settings, tools, _ -> BoxTask.NONE);
  }

  /**
   * Boxes with these tools.
   *
   * @param tasks the box's task of a prompt
   */
  public BoxProvider(BoxSettings settings, Set<BoxTool> tools, Function<Prompt, BoxTask> tasks) {
    this.settings = settings;
    this.tasks = tasks;
    this.tools = tools.stream().sorted().flatMap(tool -> tool.schemas().stream()).toList();
  }

  @Override
  public String name() {
    return "sandbox";
  }

  @Override
  public List<ToolSchema> tools() {
    return tools;
  }

  /**
   * Opens boxes, and makes one to see that this machine can.
   *
   * @throws io.troupe.environments.EnvironmentFailedException if it cannot
   */
  @Override
  public EnvironmentPool open() {
    return BoxPool.open(settings, tasks);
  }
}
