/**
 * Inference servers as samplers: which one can do what, which of them draws a group, and how new
 * weights reach them.
 */
@NullMarked
package io.troupe.engine.http;

import org.jspecify.annotations.NullMarked;
