/** Keys and certificates of hosts. */
@NullMarked
package io.troupe.net.tls;

import org.jspecify.annotations.NullMarked;
