/** Prompts in the order of a run, and how each is sampled. */
@NullMarked
package io.troupe.runtime.prompt;

import org.jspecify.annotations.NullMarked;
