/** Rows of supervised data sets, and the tokens that a policy imitates of them. */
@NullMarked
package io.troupe.tasks.supervised;

import org.jspecify.annotations.NullMarked;
