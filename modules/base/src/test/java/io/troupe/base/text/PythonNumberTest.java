package io.troupe.base.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Numbers by Python 3.12: {@code repr} and {@code json.dumps}. */
final class PythonNumberTest {
  @ParameterizedTest
  @CsvSource({
    "12345678.9, 12345678.9",
    "10000000.0, 10000000.0",
    "0.0001, 0.0001",
    "0.00001, 1e-05",
    "1.5e-7, 1.5e-07",
    "1e22, 1e+22",
    "1e16, 1e+16",
    "9999999999999998.0, 9999999999999998.0",
    "123456789012345680.0, 1.2345678901234568e+17",
    "1e100, 1e+100",
    "4.9E-324, 5e-324",
    "2e-323, 2e-323",
    "1.7976931348623157E308, 1.7976931348623157e+308",
    "-0.0, -0.0",
    "-2.5, -2.5",
    "0.1, 0.1",
    "1e23, 1e+23",
    "NaN, nan",
    "-Infinity, -inf"
  })
  void repr_isPythons(double number, String python) {
    assertThat(PythonNumber.repr(number)).isEqualTo(python);
  }

  @Test
  void json_numbersOfEveryClass_areWrittenAsJsonDumpsDoes() {
    assertThat(PythonNumber.json(new BigInteger("100000000000000000000")))
        .isEqualTo("100000000000000000000");
    assertThat(PythonNumber.json(new BigDecimal("1.50"))).isEqualTo("1.5");
    assertThat(PythonNumber.json(7L)).isEqualTo("7");
    assertThat(PythonNumber.json(Double.POSITIVE_INFINITY)).isEqualTo("Infinity");
    assertThat(PythonNumber.json(Double.NaN)).isEqualTo("NaN");
  }
}
