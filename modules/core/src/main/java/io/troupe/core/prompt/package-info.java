/** Prompts, and the order in which they are admitted. */
@NullMarked
package io.troupe.core.prompt;

import org.jspecify.annotations.NullMarked;
