/** Functions in C, called by Java's foreign function interface. */
@NullMarked
package io.troupe.base.foreign;

import org.jspecify.annotations.NullMarked;
