/** {@code troupe sft}. */
@NullMarked
package io.troupe.cli.supervised;

import org.jspecify.annotations.NullMarked;
