/** Tasks: prompts from data sets, prompt templates, splits, mixtures and curricula. */
@NullMarked
package io.troupe.tasks;

import org.jspecify.annotations.NullMarked;
