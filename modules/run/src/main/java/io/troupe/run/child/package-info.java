/** Processes of this program that a run keeps running beside itself. */
@NullMarked
package io.troupe.run.child;

import org.jspecify.annotations.NullMarked;
