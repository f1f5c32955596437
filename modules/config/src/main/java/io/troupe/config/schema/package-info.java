/** What a configuration record says about its keys. */
@NullMarked
package io.troupe.config.schema;

import org.jspecify.annotations.NullMarked;
