/** Ports to tensors: the interfaces through which the loop samples, scores and trains. */
@NullMarked
package io.troupe.engine;

import org.jspecify.annotations.NullMarked;
