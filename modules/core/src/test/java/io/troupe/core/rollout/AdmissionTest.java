package io.troupe.core.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdmissionTest {
  /** min(max_concurrent - running, (eta + v + 1) B - (accepted + running)), never below 0. */
  @ParameterizedTest
  @CsvSource({
    // concurrent, running, accepted, version, batch, eta, capacity
    "100,   0,   0,  0,  8, 0,   8",
    "100,   0,   0,  0,  8, 4,  40",
    "100,   3,   8,  1,  8, 0,   5",
    "100,   3,   8,  1,  8, 2,  21",
    "  5,   3,   8,  1,  8, 2,   2",
    "  5,   5,   8,  1,  8, 2,   0",
    "  5,   7,   8,  1,  8, 2,   0",
    "100,   0,   8,  0,  8, 0,   0",
    "100,   0,  20,  0,  8, 0,   0",
    "100,   0, 800,100,  8, 1,  16",
  })
  void capacity_formula_isTheLesserOfBothBounds(
      long concurrent,
      long running,
      long accepted,
      long version,
      long batch,
      long eta,
      long capacity) {
    assertThat(Admission.capacity(concurrent, running, accepted, version, batch, eta))
        .isEqualTo(capacity);
  }
}
