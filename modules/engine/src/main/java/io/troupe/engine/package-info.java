/** Ports to tensors: what the loop needs of an engine, and nothing else. */
@NullMarked
package io.troupe.engine;

import org.jspecify.annotations.NullMarked;
