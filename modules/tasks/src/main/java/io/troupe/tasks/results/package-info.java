/** What was measured of prompts, read from stored results, and the data made of it. */
@NullMarked
package io.troupe.tasks.results;

import org.jspecify.annotations.NullMarked;
