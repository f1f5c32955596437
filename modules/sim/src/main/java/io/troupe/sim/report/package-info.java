/** What simulated runs come to, over seeds and over settings. */
@NullMarked
package io.troupe.sim.report;

import org.jspecify.annotations.NullMarked;
