/** Configuration of data sets and prompts. */
@NullMarked
package io.troupe.config.task;

import org.jspecify.annotations.NullMarked;
