/** Verdicts over a file of completions. */
@NullMarked
package io.troupe.app.verify;

import org.jspecify.annotations.NullMarked;
