package io.troupe.run.compose;

import io.troupe.base.sandbox.ProgramBox;
import io.troupe.chat.ChatTemplate;
import io.troupe.config.rollout.AgentProgramSection;
import io.troupe.config.rollout.AgentSandboxSection;
import io.troupe.config.rollout.EpisodeSection;
import io.troupe.config.rollout.EpisodeSection.Format;
import io.troupe.config.rollout.EpisodeSection.ParseErrors;
import io.troupe.config.rollout.RemoteAgentsSection;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentProvider;
import io.troupe.environments.ToolSchema;
import io.troupe.environments.format.HermesFormat;
import io.troupe.environments.format.InlineFormat;
import io.troupe.environments.format.LlamaFormat;
import io.troupe.environments.format.ToolFormat;
import io.troupe.gateway.agent.AgentSandbox;
import io.troupe.gateway.agent.AgentSettings;
import io.troupe.gateway.agent.AgentSource;
import io.troupe.gateway.agent.RemoteAgentSettings;
import io.troupe.gateway.agent.RemoteAgents;
import io.troupe.gateway.dialog.PlainConversation;
import io.troupe.gateway.dialog.TemplateConversation;
import io.troupe.gateway.dialog.TemplateFormats;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.tasks.PromptTemplate;
import io.troupe.tasks.Task;
import io.troupe.tasks.TaskSource;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The episodes of a run, with their tools or their agent, and the chat template's formats for them.
 */
final class ToolLoops {
  private static final long MIB = 1L << 20;

  private ToolLoops() {}

  /**
   * Returns the form of an episode.
   *
   * @param chat of the policy, as {@link #showingTools} returns it
   * @param environment provider of the tools, if the policy has any
   * @throws TaskDataException if the template does not show results as the format does, or an agent
   *     would be given prompts that are conversations already
   */
  static EpisodeSettings of(
      EpisodeSection section,
      ChatTemplate chat,
      Tokenizer tokenizer,
      Task task,
      Optional<EnvironmentProvider> environment) {
    if (section.hasAgent()) {
      return new EpisodeSettings.Agents(agents(section, chat, tokenizer, task));
    }
    if (environment.isEmpty()) {
      return new EpisodeSettings.SingleTurn();
    }
    EnvironmentProvider provider = environment.get();
    return new EpisodeSettings.ToolLoop(
        provider,
        bridged(section, chat, tools(provider).getFirst()),
        section.maxTurns(),
        section.maxToolCalls(),
        section.toolTimeout(),
        section.parseErrors() == ParseErrors.END);
  }

  private static AgentSettings agents(
      EpisodeSection section, ChatTemplate chat, Tokenizer tokenizer, Task task) {
    for (TaskSource source : task.sources()) {
      if (source.promptForm() == PromptTemplate.PromptForm.CHAT) {
        throw new TaskDataException(
            "task.template: %s has chat, and an agent makes a conversation of a prompt itself; set it to raw"
                .formatted(source.name()));
      }
    }
    AgentProgramSection agent = section.agent();
    return new AgentSettings(
        source(agent),
        agent.timeout(),
        section.format() == Format.INLINE
            ? new PlainConversation(tokenizer)
            : new TemplateConversation(
                tokenizer,
                chat,
                bridged(
                    section,
                    TemplateFormats.showing(chat, List.of(TemplateFormats.PROBE)),
                    TemplateFormats.PROBE)),
        section.maxTurns(),
        section.maxToolCalls());
  }

  private static AgentSource source(AgentProgramSection agent) {
    if (!agent.remote().isUsed()) {
      return new AgentSource.Program(
          agent.command(),
          agent.variables(),
          agent.count(),
          agent.tasksPerProcess(),
          sandbox(agent.sandbox()));
    }
    RemoteAgentsSection remote = agent.remote();
    return new AgentSource.Remote(
        new RemoteAgents(
            new RemoteAgentSettings(
                remote.address(),
                Path.of(remote.keyFile()),
                remote.tls().isEmpty() ? Optional.empty() : Optional.of(Path.of(remote.tls())),
                remote.silence())));
  }

  private static List<AgentSandbox> sandbox(AgentSandboxSection section) {
    return section.enabled()
        ? List.of(
            new AgentSandbox(
                section.folders().stream().map(Path::of).toList(),
                new ProgramBox.ProgramLimits(
                    section.memoryMb() * MIB, section.processes(), section.filesMb() * MIB)))
        : List.of();
  }

  /**
   * Returns the provider of the policy's tools; empty if it has none.
   *
   * @param folderSources names of the sources whose prompts are task folders
   */
  static Optional<EnvironmentProvider> environment(
      EpisodeSection section, List<String> folderSources) {
    return section.hasTools()
        ? Optional.of(EpisodeEnvironments.of(section.environment(), folderSources))
        : Optional.empty();
  }

  /** Returns a template that shows the environment's tools in every rendering. */
  static ChatTemplate showingTools(
      EpisodeSection section, ChatTemplate plain, Optional<EnvironmentProvider> environment) {
    return section.format() == Format.INLINE
        ? plain
        : environment
            .map(provider -> TemplateFormats.showing(plain, tools(provider)))
            .orElse(plain);
  }

  /**
   * Opens the environment of episodes that have one, and closes it; tries the sandbox of agents, or
   * reads the keys of those that ask for tasks.
   *
   * @throws TaskDataException if that cannot be done on this machine
   */
  static void check(EpisodeSettings episodes) {
    if (episodes instanceof EpisodeSettings.ToolLoop loop) {
      try {
        loop.provider().open().close();
      } catch (EnvironmentFailedException failure) {
        throw new TaskDataException("episode.environment: " + failure.getMessage());
      }
    }
    if (episodes instanceof EpisodeSettings.Agents(AgentSettings agents)) {
      try {
        agents.source().check();
      } catch (IOException unfit) {
        throw new TaskDataException(unfit(agents.source(), unfit));
      }
    }
  }

  private static String unfit(AgentSource source, IOException why) {
    return switch (source) {
      case AgentSource.Program _ ->
          "episode.agent.sandbox: %s. To run agents that you trust without one, set enabled: false"
              .formatted(why.getMessage());
      case AgentSource.Remote _ -> "episode.agent.remote: " + why.getMessage();
    };
  }

  /**
   * The tools of an environment.
   *
   * @throws TaskDataException if it cannot be asked for them
   */
  private static List<ToolSchema> tools(EnvironmentProvider provider) {
    try {
      return provider.tools();
    } catch (EnvironmentFailedException failure) {
      throw new TaskDataException("episode.environment: " + failure.getMessage());
    }
  }

  /** Holds the format against the template: both must show a result by the same text. */
  private static ToolFormat bridged(EpisodeSection section, ChatTemplate chat, ToolSchema tool) {
    ToolFormat format =
        switch (section.format()) {
          case INLINE -> new InlineFormat();
          case HERMES -> new HermesFormat();
          case LLAMA -> new LlamaFormat();
        };
    if (section.format() == Format.INLINE) {
      return format;
    }
    Optional<ToolFormat> fitting;
    try {
      fitting = TemplateFormats.bridged(format, chat, tool);
    } catch (IllegalArgumentException unshown) {
      throw new TaskDataException(
          unshown.getMessage() + "; take a policy whose template does, or episode.format: inline");
    }
    return fitting.orElseThrow(
        () ->
            new TaskDataException(
                "the policy's chat template does not show a tool's result as episode.format: %s does; take the format of its family"
                    .formatted(section.format().name().toLowerCase(Locale.ROOT))));
  }
}
