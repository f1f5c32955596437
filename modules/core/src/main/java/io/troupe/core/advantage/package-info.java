/** Advantages within a group. */
@NullMarked
package io.troupe.core.advantage;

import org.jspecify.annotations.NullMarked;
