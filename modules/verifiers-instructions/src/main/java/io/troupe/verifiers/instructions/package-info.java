/** Whether a completion follows instructions that a program can check. */
@NullMarked
package io.troupe.verifiers.instructions;

import org.jspecify.annotations.NullMarked;
