/** The results of simulated runs, over seeds and over settings. */
@NullMarked
package io.troupe.sim.report;

import org.jspecify.annotations.NullMarked;
