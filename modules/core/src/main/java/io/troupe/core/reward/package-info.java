/** Verifiers' judgements of completions. */
@NullMarked
package io.troupe.core.reward;

import org.jspecify.annotations.NullMarked;
