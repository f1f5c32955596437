/** {@code troupe certs}: a certificate authority for a cluster of one's own. */
@NullMarked
package io.troupe.cli.certs;

import org.jspecify.annotations.NullMarked;
