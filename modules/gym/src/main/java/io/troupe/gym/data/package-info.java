/** Gym tasks over data sets: items, splits that are held apart, and judging by verifiers. */
@NullMarked
package io.troupe.gym.data;

import org.jspecify.annotations.NullMarked;
