package io.troupe.verifiers.math.value;

import java.math.BigDecimal;

/**
 * A complex number that is known up to an error.
 *
 * @param re the real part
 * @param im the imaginary part; exactly zero for a real number
 * @param error at least the distance to the true value
 */
public record Ball(BigDecimal re, BigDecimal im, BigDecimal error) {
  public static final Ball ZERO = exact(BigDecimal.ZERO);
  public static final Ball ONE = exact(BigDecimal.ONE);

  public static Ball exact(BigDecimal value) {
    return new Ball(value, BigDecimal.ZERO, BigDecimal.ZERO);
  }

  public boolean isReal() {
    return im.signum() == 0;
  }

  public boolean isExactZero() {
    return re.signum() == 0 && im.signum() == 0 && error.signum() == 0;
  }
}
