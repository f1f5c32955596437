/** A sampling engine behind the HTTP interface that inference servers have in common. */
@NullMarked
package io.troupe.engine.http.serve;

import org.jspecify.annotations.NullMarked;
