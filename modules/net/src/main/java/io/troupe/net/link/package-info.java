/** Framed connections between processes that prove one secret to each other. */
@NullMarked
package io.troupe.net.link;

import org.jspecify.annotations.NullMarked;
