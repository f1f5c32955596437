/** JVMs as the console shows them: actors, stacks, memory. */
@NullMarked
package io.troupe.console.process;

import org.jspecify.annotations.NullMarked;
