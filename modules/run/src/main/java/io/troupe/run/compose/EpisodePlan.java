package io.troupe.run.compose;

import io.troupe.chat.ChatTemplate;
import io.troupe.config.rollout.EpisodeSection;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.EnvironmentProvider;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.tasks.Task;
import java.util.List;
import java.util.Optional;

/**
 * The episodes of a task by a section, for a policy that may belong to no run.
 *
 * @param template of the policy, which shows the tools of the section
 */
public record EpisodePlan(
    EpisodeSection section, ChatTemplate template, Optional<EnvironmentProvider> environment) {
  /**
   * Reads a section.
   *
   * @param chat template of the policy
   * @param folderSources names of the sources whose prompts are task folders
   * @throws io.troupe.tasks.rows.TaskDataException if tools cannot be asked for, or the template
   *     does not show them
   */
  public static EpisodePlan of(
      EpisodeSection section, ChatTemplate chat, List<String> folderSources) {
    Optional<EnvironmentProvider> environment = ToolLoops.environment(section, folderSources);
    return new EpisodePlan(
        section, ToolLoops.showingTools(section, chat, environment), environment);
  }

  /**
   * The episodes of a task whose prompts the template has made.
   *
   * @throws io.troupe.tasks.rows.TaskDataException if the template does not show results as the
   *     section's format does, or this machine lacks what they need
   */
  public EpisodeSettings episodes(Tokenizer tokenizer, Task task) {
    EpisodeSettings episodes = ToolLoops.of(section, template, tokenizer, task, environment);
    ToolLoops.check(episodes);
    return episodes;
  }
}
