/** Simulated runs of a configuration: models from files and from runs, and what they predict. */
@NullMarked
package io.troupe.run.simulation;

import org.jspecify.annotations.NullMarked;
