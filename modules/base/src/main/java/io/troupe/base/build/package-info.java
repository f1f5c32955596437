/** The identity of this build: its version and a digest of its classes. */
@NullMarked
package io.troupe.base.build;

import org.jspecify.annotations.NullMarked;
