/** Judges programs by running them, in a sandbox that takes them for hostile. */
@NullMarked
package io.troupe.verifiers.code;

import org.jspecify.annotations.NullMarked;
