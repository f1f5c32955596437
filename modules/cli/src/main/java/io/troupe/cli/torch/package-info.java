/** {@code troupe torch}: installed PyTorches, and the native binding that each of them needs. */
@NullMarked
package io.troupe.cli.torch;

import org.jspecify.annotations.NullMarked;
