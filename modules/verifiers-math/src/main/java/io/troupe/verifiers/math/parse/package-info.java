/** Mathematical answers read from LaTeX and text. */
@NullMarked
package io.troupe.verifiers.math.parse;

import org.jspecify.annotations.NullMarked;
