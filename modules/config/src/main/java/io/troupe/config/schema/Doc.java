package io.troupe.config.schema;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The meaning of a key, for the person who sets it; the documentation is generated from it. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.RECORD_COMPONENT, ElementType.TYPE})
public @interface Doc {
  /** A sentence or two, in Markdown, without the key's name. */
  String value();

  /** The unit of a number; empty for a pure number, a text or a duration. */
  String unit() default "";
}
