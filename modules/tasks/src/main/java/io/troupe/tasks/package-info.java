/** Where prompts come from: data sets, prompt templates and splits. */
@NullMarked
package io.troupe.tasks;

import org.jspecify.annotations.NullMarked;
