/**
 * Certificates of a cluster: who may take part in it, and what the transport needs to check that.
 */
@NullMarked
package io.troupe.cluster.tls;

import org.jspecify.annotations.NullMarked;
