/** The formats in which models call tools and are shown the results. */
@NullMarked
package io.troupe.environments.format;

import org.jspecify.annotations.NullMarked;
