/** LLaMA-Factory's data sets and trainings, as its command line reads and leaves them. */
@NullMarked
package io.troupe.gym.factory;

import org.jspecify.annotations.NullMarked;
