/** Judges programs by running them, in a sandbox that assumes them hostile. */
@NullMarked
package io.troupe.verifiers.code;

import org.jspecify.annotations.NullMarked;
