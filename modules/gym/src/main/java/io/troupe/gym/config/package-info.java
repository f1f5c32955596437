/** The configuration of a gym. */
@NullMarked
package io.troupe.gym.config;

import org.jspecify.annotations.NullMarked;
