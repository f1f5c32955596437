package io.troupe.telemetry;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The definition of a metric, on the component that carries it. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
@interface MetricDefinition {
  /** Unit of the value; "" for a word. */
  String unit();

  /** Returns the meaning of the metric, with its unit. */
  String meaning();

  /** Returns the meaning of a high value, and when to act. */
  String reading();

  /** The header of its column on the training screen; "" when it is in metrics.jsonl only. */
  String column() default "";
}
