/** Digests of bytes and files. */
@NullMarked
package io.troupe.base.hash;

import org.jspecify.annotations.NullMarked;
