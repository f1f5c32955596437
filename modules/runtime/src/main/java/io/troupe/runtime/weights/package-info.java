/** How weights leave the trainer and reach the workers of a process. */
@NullMarked
package io.troupe.runtime.weights;

import org.jspecify.annotations.NullMarked;
