/** The safetensors format: one file, and a model of several with an index. */
@NullMarked
package io.troupe.engine.safetensors;

import org.jspecify.annotations.NullMarked;
