/**
 * An HTTP server for a sampling engine, with the interface that inference servers have in common.
 */
@NullMarked
package io.troupe.serve;

import org.jspecify.annotations.NullMarked;
