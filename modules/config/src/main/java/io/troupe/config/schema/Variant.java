package io.troupe.config.schema;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A sealed interface whose records are alternatives of one section: the key named here chooses the
 * record by its simple name in snake case, and the other keys are that record's components.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Variant {
  /** The key that chooses. */
  String key();

  /** The alternative taken when the key is left out; empty means that the key is required. */
  String defaultsTo() default "";

  /** Returns the meaning of the choice. */
  String meaning();
}
