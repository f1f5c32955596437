/** Annotations of configuration records about their keys. */
@NullMarked
package io.troupe.config.schema;

import org.jspecify.annotations.NullMarked;
