/** Configuration of sampling and of verifiers. */
@NullMarked
package io.troupe.config.rollout;

import org.jspecify.annotations.NullMarked;
