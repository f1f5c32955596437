/** Commands that predict a run, and fit what predictions are made from. */
@NullMarked
package io.troupe.cli.simulate;

import org.jspecify.annotations.NullMarked;
