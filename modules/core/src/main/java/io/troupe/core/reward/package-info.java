/** What a verifier says of a completion. */
@NullMarked
package io.troupe.core.reward;

import org.jspecify.annotations.NullMarked;
