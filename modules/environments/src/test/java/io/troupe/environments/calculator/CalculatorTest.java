package io.troupe.environments.calculator;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.environments.Environment;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.registry.Environments;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CalculatorTest {
  @ParameterizedTest
  @CsvSource({
    "12*34, 408",
    "1+2*3, 7",
    "(1+2)*3, 9",
    "-5-7, -12",
    "2*-3, -6",
    "99999999999*99999999999, 9999999999800000000001",
    "'{\"expression\": \"6*7\"}', 42",
    "1+, error",
    "+, error",
    "(1, error",
    "1/2, error",
    "1)2, error",
    "'', error"
  })
  void step_expression_isCalculatedExactly(String expression, String expected) {
    try (Environment calculator = Environments.named("calculator").open().newEnvironment()) {
      ToolResult result = calculator.step(new ToolCall("calc", expression, ToolCall.Status.OK));
      assertThat(result.text()).isEqualTo(expected);
      assertThat(result.exit()).isEqualTo(expected.equals("error") ? 1 : 0);
    }
  }
}
