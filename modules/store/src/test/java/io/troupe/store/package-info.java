/** Tests of the durable things, and the disks and processes that fail in them. */
@NullMarked
package io.troupe.store;

import org.jspecify.annotations.NullMarked;
