/** Completions typed by hand, of the policy of a run. */
@NullMarked
package io.troupe.console.chat;

import org.jspecify.annotations.NullMarked;
