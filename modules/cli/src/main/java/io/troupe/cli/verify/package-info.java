/** {@code troupe verify}: verdicts on completions in a file. */
@NullMarked
package io.troupe.cli.verify;

import org.jspecify.annotations.NullMarked;
