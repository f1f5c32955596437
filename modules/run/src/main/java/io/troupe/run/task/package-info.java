/** Data sets and verifiers as a configuration names them. */
@NullMarked
package io.troupe.run.task;

import org.jspecify.annotations.NullMarked;
