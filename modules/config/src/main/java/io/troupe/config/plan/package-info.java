/** The needs of a configuration before anything is started: memory, processes, notes. */
@NullMarked
package io.troupe.config.plan;

import org.jspecify.annotations.NullMarked;
