package io.troupe.core.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdmissionTest {
  /** min(max_concurrent - running, ((eta + v + 1) B - accepted - K running) / K), 0 or more. */
  @ParameterizedTest
  @CsvSource({
    // concurrent, running, accepted, version, batch, eta, capacity, uses
    "100,   0,   0,  0,  8, 0,   8, 1",
    "100,   0,   0,  0,  8, 4,  40, 1",
    "100,   3,   8,  1,  8, 0,   5, 1",
    "100,   3,   8,  1,  8, 2,  21, 1",
    "  5,   3,   8,  1,  8, 2,   2, 1",
    "  5,   5,   8,  1,  8, 2,   0, 1",
    "  5,   7,   8,  1,  8, 2,   0, 1",
    "100,   0,   8,  0,  8, 0,   0, 1",
    "100,   0,  20,  0,  8, 0,   0, 1",
    "100,   0, 800,100,  8, 1,  16, 1",
    "100,   0,   0,  0,  8, 1,   8, 2",
    "100,   3,   0,  0,  8, 1,   5, 2",
    "100,   3,   1,  0,  8, 1,   4, 2",
    "100,   8,   0,  0,  8, 1,   0, 2",
    "100,   1, 800,100,  8, 2,   7, 3",
  })
  void capacity_formula_isTheLesserOfBothBounds(
      long concurrent,
      long running,
      long accepted,
      long version,
      long batch,
      long eta,
      long capacity,
      long uses) {
    assertThat(Admission.capacity(concurrent, running, accepted, version, batch, eta, uses))
        .isEqualTo(capacity);
  }
}
