/** The decoder model and its parameters. */
@NullMarked
package io.troupe.engine.djl.model;

import org.jspecify.annotations.NullMarked;
