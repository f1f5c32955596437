/** The side of a cluster that asks: an evaluation whose chunks the rollout workers sample. */
@NullMarked
package io.troupe.cluster.evaluation;

import org.jspecify.annotations.NullMarked;
