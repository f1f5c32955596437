/**
 * What the coordinator and a trainer rank's process send each other, and both ends of their
 * connection.
 */
@NullMarked
package io.troupe.ranks.protocol;

import org.jspecify.annotations.NullMarked;
