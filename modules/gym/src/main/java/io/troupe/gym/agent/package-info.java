/** Agents that make training rows from a report of the student's errors. */
@NullMarked
package io.troupe.gym.agent;

import org.jspecify.annotations.NullMarked;
