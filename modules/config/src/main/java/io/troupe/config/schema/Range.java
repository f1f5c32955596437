package io.troupe.config.schema;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The numbers that a key allows; for a duration in seconds, for a list the number of its items. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Range {
  /** Smallest value. */
  double min() default Double.NEGATIVE_INFINITY;

  /** Largest value. */
  double max() default Double.POSITIVE_INFINITY;

  /** Whether the smallest value itself is refused. */
  boolean minExclusive() default false;

  /** Whether the largest value itself is refused. */
  boolean maxExclusive() default false;
}
