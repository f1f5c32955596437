/** Tests of the actors, with the toy policy. */
@NullMarked
package io.troupe.runtime;

import org.jspecify.annotations.NullMarked;
