/** The simulated actors: workers, verifiers, trainer and weight publication. */
@NullMarked
package io.troupe.sim.engine;

import org.jspecify.annotations.NullMarked;
