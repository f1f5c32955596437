@NullMarked
package io.troupe.cluster.evaluation;

import org.jspecify.annotations.NullMarked;
