/** {@code troupe eval}: evaluations of runs, checkpoints and servers. */
@NullMarked
package io.troupe.cli.eval;

import org.jspecify.annotations.NullMarked;
