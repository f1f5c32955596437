package io.troupe.environments.calculator;

import io.troupe.core.prompt.Prompt;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.EnvironmentProvider;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import java.util.List;

/** Environments with one tool, {@code calc}, which evaluates an expression of whole numbers. */
public final class CalculatorProvider implements EnvironmentProvider {
  /** The name of the environment. */
  public static final String NAME = "calculator";

  /** The name of its tool. */
  public static final String TOOL = "calc";

  /** The tool's answer where there is nothing to calculate. */
  public static final String ERROR = "error";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<ToolSchema> tools() {
    return List.of(
        new ToolSchema(
            TOOL,
            "Evaluates an expression of whole numbers with +, -, * and parentheses.",
            "{\"type\":\"object\",\"properties\":{\"expression\":{\"type\":\"string\"}},"
                + "\"required\":[\"expression\"]}"));
  }

  @Override
  public EnvironmentPool open() {
    return Calculator::new;
  }

  private static final class Calculator implements Environment {
    @Override
    public void reset(Prompt prompt, long seed) {
      // Nothing is kept between calls.
    }

    @Override
    public ToolResult step(ToolCall call) {
      return IntegerExpression.value(call.argument("expression"))
          .map(value -> ToolResult.of(value.toString()))
          .orElseGet(() -> ToolResult.error(ERROR));
    }

    @Override
    public void close() {
      // Nothing is held.
    }
  }
}
