/** The models that runs start from: their names, the cache that holds them, and what they are. */
@NullMarked
package io.troupe.run.model;

import org.jspecify.annotations.NullMarked;
