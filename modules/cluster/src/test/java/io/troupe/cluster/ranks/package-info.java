@NullMarked
package io.troupe.cluster.ranks;

import org.jspecify.annotations.NullMarked;
