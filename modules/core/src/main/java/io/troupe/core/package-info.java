/** Pure GRPO: vocabulary and state machines; no clock, no randomness, no I/O. */
@NullMarked
package io.troupe.core;

import org.jspecify.annotations.NullMarked;
