/** Runs on tracking servers that are spoken to over HTTP. */
@NullMarked
package io.troupe.tracking.server;

import org.jspecify.annotations.NullMarked;
