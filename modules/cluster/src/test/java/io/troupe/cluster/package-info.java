@NullMarked
package io.troupe.cluster;

import org.jspecify.annotations.NullMarked;
