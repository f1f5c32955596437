/** The prompts of an evaluation, and its sampling. */
@NullMarked
package io.troupe.config.evaluation;

import org.jspecify.annotations.NullMarked;
