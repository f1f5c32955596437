/** A sampling engine behind the HTTP interface that inference servers have in common. */
@NullMarked
package io.troupe.serve;

import org.jspecify.annotations.NullMarked;
