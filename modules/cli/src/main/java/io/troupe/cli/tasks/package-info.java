/** {@code troupe tasks}: data sets as a run would read them. */
@NullMarked
package io.troupe.cli.tasks;

import org.jspecify.annotations.NullMarked;
