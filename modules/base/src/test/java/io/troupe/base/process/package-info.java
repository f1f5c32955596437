/** Tests of child processes. */
@NullMarked
package io.troupe.base.process;

import org.jspecify.annotations.NullMarked;
