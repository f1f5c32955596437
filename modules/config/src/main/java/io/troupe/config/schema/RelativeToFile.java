package io.troupe.config.schema;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A path that is read from the folder of the configuration file, and from the working directory
 * when it comes from the command line; the record holds it absolute.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface RelativeToFile {
  /**
   * Whether a text such as {@code owner/name} may also be the name of a repository, which it is
   * where no such path exists.
   */
  boolean orRepository() default false;
}
