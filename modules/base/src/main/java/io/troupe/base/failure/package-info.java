/** Exceptions and their causes. */
@NullMarked
package io.troupe.base.failure;

import org.jspecify.annotations.NullMarked;
