/** Child processes: the bounded logs of what they print. */
@NullMarked
package io.troupe.engine.process;

import org.jspecify.annotations.NullMarked;
