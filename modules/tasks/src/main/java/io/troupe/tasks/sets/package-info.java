/** The published data sets: how the rows of each become questions, answers and ids. */
@NullMarked
package io.troupe.tasks.sets;

import org.jspecify.annotations.NullMarked;
