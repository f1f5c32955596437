@NullMarked
package io.troupe.cluster.tls;

import org.jspecify.annotations.NullMarked;
