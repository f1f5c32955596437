/** The walls around programs that are assumed to be hostile: namespaces, limits, a filter. */
@NullMarked
package io.troupe.base.sandbox;

import org.jspecify.annotations.NullMarked;
