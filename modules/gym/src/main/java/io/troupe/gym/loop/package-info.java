/** The state machine of a gym: events, the state they fold into, and the next work. */
@NullMarked
package io.troupe.gym.loop;

import org.jspecify.annotations.NullMarked;
