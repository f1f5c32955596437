/** Tests of installed PyTorches. */
@NullMarked
package io.troupe.engine.djl.install;

import org.jspecify.annotations.NullMarked;
