package io.troupe.tasks.columns;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The texts of numbers. */
final class CellNodesTest {
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void numberNode_anyDouble_hasTheShortestDigitsAndNoExponent(long seed) {
    Random random = new Random(seed);
    double value = random.nextInt(2_000_000_000) * Math.pow(10, random.nextInt(40) - 20);
    JsonNode node = CellNodes.INSTANCE.numberNode(value);

    assertThat(node.asText()).doesNotContain("E").doesNotEndWith(".0");
    assertThat(new BigDecimal(node.asText())).isEqualByComparingTo(Double.toString(value));
  }

  @ParameterizedTest
  @CsvSource({
    "2, 2.0, 2",
    "1.2345678E7, 12345678.0, 12345678",
    "0.5, 0.5, 0.5",
    "0, 0.0, 0",
    "1e22, 1.0E+22, 10000000000000000000000",
  })
  void numberNode_double_isAFloatInJsonAndPlainAsText(double value, String json, String text) {
    JsonNode node = CellNodes.INSTANCE.numberNode(value);

    assertThat(CellNodes.INSTANCE.arrayNode().add(node)).hasToString("[%s]".formatted(json));
    assertThat(node.asText()).isEqualTo(text);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void half_anyBits_hasTheFewestDigitsThatGiveThemBack(long seed) {
    short bits = (short) new Random(seed).nextInt(1 << 16);
    float value = Float.float16ToFloat(bits);
    JsonNode node = CellNodes.half(bits);

    if (Float.isFinite(value)) {
      assertThat(Float.float16ToFloat(Float.floatToFloat16(Float.parseFloat(node.asText()))))
          .isEqualTo(value == 0 ? 0 : value);
    } else {
      assertThat(node.asText()).isIn("NaN", "Infinity", "-Infinity");
    }
  }
}
