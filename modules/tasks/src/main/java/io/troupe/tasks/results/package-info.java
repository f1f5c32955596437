/** The measured results of prompts, read from stored results, and the data made of them. */
@NullMarked
package io.troupe.tasks.results;

import org.jspecify.annotations.NullMarked;
