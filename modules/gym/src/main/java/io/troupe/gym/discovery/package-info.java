/** Skills that a language model finds in the items of a task. */
@NullMarked
package io.troupe.gym.discovery;

import org.jspecify.annotations.NullMarked;
