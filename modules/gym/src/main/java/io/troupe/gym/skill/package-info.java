/** Trees of skills, and the policies that divide the next rows among them. */
@NullMarked
package io.troupe.gym.skill;

import org.jspecify.annotations.NullMarked;
