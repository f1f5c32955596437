/** The items that a student is asked and trained on, and reports of its answers. */
@NullMarked
package io.troupe.gym.item;

import org.jspecify.annotations.NullMarked;
