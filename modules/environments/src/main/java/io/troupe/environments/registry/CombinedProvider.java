package io.troupe.environments.registry;

import io.troupe.core.prompt.Prompt;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.EnvironmentProvider;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Several environments as one, with the tools of all. */
public final class CombinedProvider implements EnvironmentProvider {
  private final List<EnvironmentProvider> parts;

  /** The tools of all parts, in their order. */
  public CombinedProvider(List<EnvironmentProvider> parts) {
    this.parts = List.copyOf(parts);
  }

  @Override
  public String name() {
    return parts.stream().map(EnvironmentProvider::name).collect(Collectors.joining("+"));
  }

  @Override
  public List<ToolSchema> tools() {
    List<ToolSchema> tools = parts.stream().flatMap(part -> part.tools().stream()).toList();
    tools.stream()
        .collect(Collectors.groupingBy(ToolSchema::name, Collectors.counting()))
        .forEach(
            (name, count) -> {
              if (count > 1) {
                throw new EnvironmentFailedException(
                    "%d environments have a tool named %s; leave one of them out"
                        .formatted(count, name));
              }
            });
    return tools;
  }

  @Override
  public EnvironmentPool open() {
    Map<String, Integer> owners =
        IntStream.range(0, parts.size())
            .boxed()
            .flatMap(i -> parts.get(i).tools().stream().map(tool -> Map.entry(tool.name(), i)))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    List<EnvironmentPool> pools = parts.stream().map(EnvironmentProvider::open).toList();
    return new EnvironmentPool() {
      @Override
      public Environment newEnvironment() {
        List<Environment> worlds = pools.stream().map(EnvironmentPool::newEnvironment).toList();
        return new Combined(
            worlds, call -> worlds.get(Objects.requireNonNull(owners.get(call.name()))));
      }

      @Override
      public void close() {
        pools.forEach(EnvironmentPool::close);
      }
    };
  }

  private record Combined(List<Environment> worlds, Function<ToolCall, Environment> owner)
      implements Environment {
    @Override
    public void reset(Prompt prompt, long seed) {
      worlds.forEach(world -> world.reset(prompt, seed));
    }

    @Override
    public ToolResult step(ToolCall call) {
      return owner.apply(call).step(call);
    }

    @Override
    public ToolResult overdue(ToolCall call) {
      return owner.apply(call).overdue(call);
    }

    @Override
    public String submission() {
      return worlds.stream()
          .map(Environment::submission)
          .filter(each -> !each.isEmpty())
          .findFirst()
          .orElse("");
    }

    @Override
    public void close() {
      worlds.forEach(Environment::close);
    }
  }
}
