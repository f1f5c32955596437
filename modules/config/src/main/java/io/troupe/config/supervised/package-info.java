/** The configuration of {@code troupe sft}. */
@NullMarked
package io.troupe.config.supervised;

import org.jspecify.annotations.NullMarked;
