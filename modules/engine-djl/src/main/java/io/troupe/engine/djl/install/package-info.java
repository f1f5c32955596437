/** Installed PyTorches: how they are found, and the native binding that each of them needs. */
@NullMarked
package io.troupe.engine.djl.install;

import org.jspecify.annotations.NullMarked;
