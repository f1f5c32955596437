/**
 * The samples of a policy for one request: tokens, their probabilities and versions, and the reason
 * of their end.
 */
@NullMarked
package io.troupe.core.completion;

import org.jspecify.annotations.NullMarked;
