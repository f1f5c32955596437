/** The real cause inside an exception that carries another one. */
@NullMarked
package io.troupe.base.failure;

import org.jspecify.annotations.NullMarked;
